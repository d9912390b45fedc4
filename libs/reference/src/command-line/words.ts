/** Formats the call of an operation as the words of a command line. */
import { type Operation } from '@muster/contract';
import { type Flag, flagsOf, toKebabCase } from './flags.ts';

/** Converts `storySpec.get` to `['story-spec', 'get']`. */
export const commandWords = (operationName: string): string[] => operationName.split('.').map(toKebabCase);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Lists the parameters that a command line may contain without a flag, in their order: the required ones with
 * a single value. An example is `muster stories update-status WEB-1 done`.
 */
export const positionalsOf = (flags: readonly Flag[]): Flag[] =>
  flags.filter(
    ({ required, repeated, kind, hasFields }) => required && !repeated && !hasFields && kind !== 'json',
  );

/** Returns the placeholder of an argument, such as `[story]`. */
export const positionalPlaceholder = ({ name }: Flag): string => `[${name.replace(/-id$/, '')}]`;

/** Returns the words that set these parameters. */
export function toCommandWords(
  flags: readonly Flag[],
  params: Readonly<Record<string, unknown>>,
  parentPath: readonly string[] = [],
): string[] {
  return Object.entries(params).flatMap(([word, value]) => {
    const path = [...parentPath, word].join('.');
    const flag = flags.find((candidate) => candidate.path.join('.') === path);
    if (flag === undefined || value === undefined) return [];
    return valueToWords(flags, flag, value);
  });
}

function valueToWords(flags: readonly Flag[], flag: Flag, value: unknown): string[] {
  const name = `--${flag.name}`;
  if (flag.kind === 'boolean' && !flag.repeated) {
    if (flag.nullable) return [`${name}=${String(value)}`];
    return [value === true ? name : `--no-${flag.name}`];
  }
  if (value === null || (Array.isArray(value) && value.length === 0)) return [`--no-${flag.name}`];
  const items: unknown[] = flag.repeated ? [value].flat() : [value];
  return items.flatMap((item) => {
    if (flag.hasFields && isObject(item) && Object.keys(item).length > 0)
      return toCommandWords(flags, item, flag.path);
    const text = typeof item === 'string' && flag.kind !== 'json' ? item : JSON.stringify(item);
    return [name, flag.fromFile && text.startsWith('@') ? `@${text}` : text];
  });
}

/** Quotes a word for a shell. */
export const shellQuote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/**
 * Returns the values of an example that need no flag. It stops at the first value that is missing or looks
 * like a flag.
 */
function positionalValues(
  flags: readonly Flag[],
  params: Readonly<Record<string, unknown>>,
): Map<string, string> {
  const said = new Map<string, string>();
  for (const { path, fromFile } of positionalsOf(flags)) {
    const [name = ''] = path;
    const value = params[name];
    if (typeof value !== 'string' && typeof value !== 'number') break;
    const word = String(value);
    if (word.startsWith('-') || (fromFile && word.startsWith('@'))) break;
    said.set(name, word);
  }
  return said;
}

/** Returns the contract's example of an operation as the words of a command. */
export function exampleWords(operation: Operation): string[] {
  const flags = flagsOf(operation);
  const bare = positionalValues(flags, operation.example);
  const others = Object.entries(operation.example).filter(([name]) => !bare.has(name));
  return [
    'muster',
    ...commandWords(operation.name),
    ...bare.values(),
    ...toCommandWords(flags, Object.fromEntries(others)),
  ];
}
