/**
 * Derives arguments from the contract: the paths that name records, and imprecise forms that a model may
 * send.
 */
import { isFreeFormObject, type ToolSchema, removeNull } from '../src/tools/schemas.ts';

export type Args = Readonly<Record<string, unknown>>;

export const optionsOf = (schema: ToolSchema): readonly ToolSchema[] => {
  const bare = removeNull(schema);
  return Array.isArray(bare['anyOf']) ? (bare['anyOf'] as ToolSchema[]) : [bare];
};

const itemsOf = ({ items }: ToolSchema): ToolSchema => (items ?? {}) as ToolSchema;
const isRef = ({ format, 'x-muster-ref': ref }: ToolSchema): boolean =>
  format === 'uuid' || ref !== undefined;

/** Lists every path that names one record; `0` is the first item of a list. */
export const refPaths = (schema: ToolSchema, path: readonly string[] = []): string[][] =>
  optionsOf(schema).flatMap((option) => {
    if (isRef(option)) return [[...path]];
    if (option.type === 'array') return refPaths(itemsOf(option), [...path, '0']);
    return Object.entries(option.properties ?? {}).flatMap(([name, field]) =>
      refPaths(field, [...path, name]),
    );
  });

/** Returns the record with the value at the path. */
export function withValue(record: unknown, [head, ...rest]: readonly string[], value: unknown): unknown {
  if (head === undefined) return value;
  if (head === '0') return [withValue(undefined, rest, value)];
  const fields = (record ?? {}) as Args;
  return { ...fields, [head]: withValue(fields[head], rest, value) };
}

const toSnakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function misspelledText(option: ToolSchema, value: string): string {
  if (Array.isArray(option['enum'])) return ` ${value.replaceAll('_', ' ').toUpperCase()} `;
  if (isRef(option)) return `\n${value.toUpperCase()} `;
  return option['format'] !== undefined || option['pattern'] !== undefined ? ` ${value}\n` : value;
}

/** Returns a kind: parameters of the same kind accept and reject the same values. */
export const kindOf = (schema: ToolSchema): string =>
  optionsOf(schema)
    .map((option) => {
      const { type, format } = option;
      const traits = ['enum', 'pattern', 'properties'].filter((trait) => trait in option);
      const items = type === 'array' ? `of ${kindOf(itemsOf(option))}` : '';
      const flags = [isRef(option) && 'record', isFreeFormObject(option) && 'open'].filter(
        (flag) => flag !== false,
      );
      return [type, format, ...traits, ...flags, items].join(' ').trim();
    })
    .join(' or ');

/** Selects the cases whose kind of parameter no earlier case had. */
export function firstOfEachKind<Case>(
  cases: readonly Case[],
  kindsOf: (one: Case) => readonly string[],
): Case[] {
  const seen = new Set<string>();
  return cases.filter((one) => {
    const known = seen.size;
    for (const kind of kindsOf(one)) seen.add(kind);
    return seen.size > known;
  });
}

/** Returns the value in another form that has the same, single meaning. */
export function malformedArgument(schema: ToolSchema, value: unknown): unknown {
  const options = optionsOf(schema);
  if (typeof value === 'number') return ` ${value} `;
  if (typeof value === 'boolean') return value ? 'True' : ' FALSE';
  if (typeof value === 'string') {
    const isFree = options.some(
      (option) => option.type === 'string' && misspelledText(option, value) === value,
    );
    const option = options.find(({ type }) => type === 'string');
    return isFree || option === undefined ? value : misspelledText(option, value);
  }
  if (Array.isArray(value)) {
    const items = itemsOf(options.find(({ type }) => type === 'array') ?? {});
    const list = value.map((item) => malformedArgument(items, item));
    return list.length === 1 && typeof list[0] === 'string' && isRef(items) ? list[0] : JSON.stringify(list);
  }
  const object = options.find(({ properties }) => properties !== undefined);
  if (object === undefined || value === null)
    return options.some(isFreeFormObject) ? JSON.stringify(value) : value;
  return JSON.stringify(malformedFields(object, value as Args));
}

/** Writes all fields in an imprecise form, and adds null for each omitted optional parameter. */
export function malformedFields({ properties = {}, required = [] }: ToolSchema, fields: Args): Args {
  const untold = Object.keys(properties).filter((name) => !(name in fields) && !required.includes(name));
  return Object.fromEntries([
    ...untold.map((name) => [toSnakeCase(name), null] as const),
    ...Object.entries(fields).map(
      ([name, value]) => [toSnakeCase(name), malformedArgument(properties[name] ?? {}, value)] as const,
    ),
  ]);
}

/** Lists values that are invalid for this kind of parameter and cannot be corrected. */
export function invalidValuesFor(schema: ToolSchema): unknown[] {
  const options = optionsOf(schema);
  const kinds = options.map(({ type }) => type);
  const isText = (option: ToolSchema): boolean =>
    option.type === 'string' &&
    option['enum'] === undefined &&
    !isRef(option) &&
    option['pattern'] === undefined;
  const values: unknown[] = [];
  if (!kinds.includes('boolean')) values.push(true);
  if (!options.some(isText)) values.push('such as this, or that', '');
  if (!options.some(({ properties }) => properties !== undefined) && !options.some(isFreeFormObject))
    values.push({ value: 'x' });
  if (kinds.includes('array')) values.push('null', 'none', 'Undefined', '{}', 'true');
  else values.push(['a', 'b']);
  if (options.some(isRef) || options.some((option) => Array.isArray(option['enum']))) values.push(-5.5);
  if (options.every(({ type }) => type === 'integer')) values.push('1e3', '1.5');
  return values;
}
