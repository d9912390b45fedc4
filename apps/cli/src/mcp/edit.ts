/** Changes one entry of a file that people edit. All other contents stay unchanged, including comments. */
import {
  applyEdits,
  findNodeAtLocation,
  type JSONPath,
  modify,
  parse as parseJsonc,
  type ParseError,
  parseTree,
} from 'jsonc-parser';
import { parse as parseToml, stringify } from 'smol-toml';
import { UsageError } from '@muster/terminal';

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Detects the indentation of the file. */
function indentationOf(text: string): { insertSpaces: boolean; tabSize: number; eol: string } {
  const [, indent = '  '] = /^([ \t]+)\S/m.exec(text) ?? [];
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 4 : indent.length,
    eol,
  };
}

function parseJsonObject(text: string, file: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parseJsonc(text, errors, { allowTrailingComma: true });
  if (errors.length > 0 || !isObject(value))
    throw new UsageError(`${file} is not a JSON object, so it was not changed`);
  return value;
}

/** Removes an item of a list that has other items. The text between the other items stays unchanged. */
function removeItem(text: string, path: JSONPath): string {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  const item = tree && findNodeAtLocation(tree, path);
  const items = item?.parent?.children ?? [];
  const at = item === undefined ? -1 : items.indexOf(item);
  const [previous, next] = [items[at - 1], items[at + 1]];
  if (item === undefined || (previous ?? next) === undefined) return text;
  const start = previous === undefined ? item.offset : previous.offset + previous.length;
  const end = previous === undefined && next !== undefined ? next.offset : item.offset + item.length;
  return text.slice(0, start) + text.slice(end);
}

/**
 * Sets the value at a path of the file; `undefined` removes it. An empty text becomes a new file. Throws
 * UsageError if the file cannot be parsed.
 */
export function editJson(text: string, file: string, path: JSONPath, value: unknown): string {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const body = text.slice(mark.length);
  const start = body.trim() === '' ? '{}\n' : body;
  const before = parseJsonObject(start, file);
  const style = indentationOf(start);
  const plainly = modify(start, path, value, {});
  const [edit] = plainly;
  const depth = path.findIndex((_, at) => valueAtPath(before, path.slice(0, at + 1)) === undefined) + 1;
  // Given an entry with neighbors, the JSON library would reformat the neighbors too. Format only the new
  // entry in that case.
  const isBeside = depth > 0 && plainly.length === 1 && edit?.content.startsWith(',') === true;
  if (isBeside) {
    const unit = style.insertSpaces ? ' '.repeat(style.tabSize) : '\t';
    const rest = path
      .slice(depth)
      .reduceRight((inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }), value);
    const key = path[depth - 1];
    const made = JSON.stringify(rest, null, unit).replaceAll('\n', style.eol + unit.repeat(depth));
    const named = typeof key === 'string' ? `${JSON.stringify(key)}: ${made}` : made;
    return mark + applyEdits(start, [{ ...edit, content: `,${style.eol}${unit.repeat(depth)}${named}` }]);
  }
  const siblings = valueAtPath(before, path.slice(0, -1));
  if (value === undefined && Array.isArray(siblings) && siblings.length > 1)
    return mark + removeItem(start, path);
  const isOneOfMany = isObject(siblings) && Object.keys(siblings).length > 1;
  if (value === undefined && isOneOfMany) return mark + applyEdits(start, plainly);
  return mark + applyEdits(start, modify(start, path, value, { formattingOptions: style }));
}

/** Returns the value at a path within a value, or undefined if the path does not exist. */
function valueAtPath(root: unknown, path: JSONPath): unknown {
  let value = root;
  for (const step of path) {
    if (Array.isArray(value) && typeof step === 'number') value = (value as unknown[])[step];
    else value = isObject(value) ? value[String(step)] : undefined;
  }
  return value;
}

/** Returns the value at a path within the file, or undefined if the path does not exist. */
export function readJsonValue(text: string, file: string, path: JSONPath): unknown {
  return valueAtPath(text.trim() === '' ? {} : parseJsonObject(text.replace(/^\uFEFF/, ''), file), path);
}

function parseTomlFile(text: string, file: string): JsonObject {
  try {
    return parseToml(text);
  } catch {
    throw new UsageError(`${file} is not valid TOML, so it was not changed`);
  }
}

/** Returns the value at a path within a TOML file, or undefined if the path does not exist. */
export const readTomlValue = (text: string, file: string, path: JSONPath): unknown =>
  valueAtPath(parseTomlFile(text, file), path);

/** Returns the file without one server. */
function withoutServer(toml: JsonObject, within: string, name: string): JsonObject {
  const { [within]: servers, ...others } = toml;
  const { [name]: _, ...rest } = isObject(servers) ? servers : {};
  return Object.keys(rest).length === 0 ? others : { ...others, [within]: rest };
}

/**
 * Sets the table of a server, such as `[mcp_servers.muster]`; `undefined` removes it. Lines of other tables
 * do not change.
 * Throws UsageError if the file defines the server in another form, such as inline.
 */
export function editToml(
  text: string,
  file: string,
  { within, name }: { readonly within: string; readonly name: string },
  value: JsonObject | undefined,
): string {
  const before = parseTomlFile(text, file);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const kept: string[] = [];
  let isOurs = false;
  for (const line of text.split(/\r?\n/)) {
    const [, table] = /^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$/.exec(line) ?? [];
    if (table !== undefined) {
      const path = table.replaceAll(/["'\s]/g, '');
      isOurs = path === `${within}.${name}` || path.startsWith(`${within}.${name}.`);
    }
    if (!isOurs) kept.push(line);
  }
  const rest = kept.join(eol).trimEnd();
  const table =
    value === undefined ? '' : `[${within}.${name}]\n${stringify(value)}`.trimEnd().replaceAll('\n', eol);
  const made = [rest, table].filter((part) => part !== '').join(eol + eol);
  const after = made === '' ? '' : made + eol;
  const isKept =
    JSON.stringify(withoutServer(parseTomlFile(after, file), within, name)) ===
    JSON.stringify(withoutServer(before, within, name));
  const servers = parseTomlFile(after, file)[within];
  const isGone = value !== undefined || !isObject(servers) || !(name in servers);
  if (!isKept || !isGone)
    throw new UsageError(
      `${file} has ${within}.${name} in a form that cannot be changed automatically; change it by hand (--print shows how)`,
    );
  return after;
}
