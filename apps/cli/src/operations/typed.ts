/** Converts between parameters and the words of a command line. */
import { readFileSync } from 'node:fs';
import { positionalPlaceholder, type Flag, positionalsOf } from '@muster/reference';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '@muster/terminal';
import { isObject } from '../output/cells.ts';

/** True once standard input was read, which is possible only once. */
let isStdinConsumed = false;

/**
 * Reads a text: `-` is stdin and `@file` is a file. A text that itself starts with `@` is typed with `@@`.
 */
export function readTextArgument(argument: string): string {
  if (argument === '-') {
    if (isStdinConsumed) throw new InvalidArgumentError('stdin was already read for another flag.');
    isStdinConsumed = true;
    return decodeUtf8(readFileSync(0));
  }
  if (!argument.startsWith('@')) return argument;
  if (argument.startsWith('@@')) return argument.slice(1);
  let bytes: Buffer;
  try {
    bytes = readFileSync(argument.slice(1));
  } catch {
    throw new InvalidArgumentError(
      `The file "${argument.slice(1)}" does not exist (to pass a text that starts with @, write @@…).`,
    );
  }
  return decodeUtf8(bytes);
}

const utf8Decoder = new TextDecoder('utf-8', { fatal: true });
function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8Decoder.decode(bytes);
  } catch {
    throw new InvalidArgumentError('The text must be encoded in UTF-8.');
  }
}

export function parseJsonArgument(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('The value must be JSON.');
  }
}

const booleanWords: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Parses one typed value. */
function parseFlagValue({ kind, choices, fromFile }: Flag, argument: string): unknown {
  const text = fromFile ? readTextArgument(argument) : argument;
  switch (kind) {
    case 'text':
      if (choices.length > 0 && !choices.includes(text))
        throw new InvalidArgumentError(`The value must be one of ${choices.join(', ')}.`);
      return text;
    case 'integer':
      if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError('The value must be a whole number.');
      return Number(text);
    case 'number':
      if (text.trim() === '' || !Number.isFinite(Number(text)))
        throw new InvalidArgumentError('The value must be a number.');
      return Number(text);
    case 'boolean': {
      const value = booleanWords.get(text);
      if (value === undefined) throw new InvalidArgumentError('The value must be true, false or null.');
      return value;
    }
    case 'json':
      return parseJsonArgument(text);
  }
}

const placeholderOf = ({ kind, placeholder }: Flag): string =>
  kind === 'boolean' ? `[${placeholder}]` : `<${placeholder}>`;

/** Describes the negated flag: `--no-epic-id` clears a value, `--no-tags` empties a list. */
export const describeNegatedFlag = ({ kind, repeated, nullable }: Flag): string | undefined => {
  if (kind === 'boolean' && !repeated) return 'false';
  if (nullable) return 'null to clear it';
  return repeated ? 'an empty list' : undefined;
};

function describeFlag(flag: Flag): string {
  const negation = describeNegatedFlag(flag);
  return [
    flag.meaning,
    flag.required && 'required',
    flag.repeated && 'repeatable',
    flag.fromFile && 'accepts @file and - (stdin)',
    flag.default !== null && flag.default !== '[]' && `default ${flag.default}`,
    negation !== undefined && flag.kind !== 'boolean' && `--no-${flag.name}: ${negation}`,
  ]
    .filter((part) => part !== false && part !== '')
    .join('; ');
}

/** Wraps a typed value, because commander treats a bare null as missing. */
class ParsedFlagValue {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
}

/** Shorter flags for parameters that are used often. */
const shortFlagNames: ReadonlyMap<string, string> = new Map([
  ['project-id', 'project'],
  ['story-id', 'story'],
]);

/** Returns the names of a flag, its own name first. */
function flagNamesOf({ name }: Flag, flags: readonly Flag[]): string[] {
  const short = shortFlagNames.get(name);
  return short === undefined || flags.some((other) => other.name === short) ? [name] : [name, short];
}

/** Returns the name under which commander stores the value. */
const optionKeyOf = (name: string): string => new Option(`--${name}`).attributeName();

/** Returns the parameters that were typed without their flags. */
export function parsePositionalParams(
  command: Command,
  flags: readonly Flag[],
  words: readonly string[],
): Record<string, unknown> {
  const positionals = positionalsOf(flags);
  if (words.length > positionals.length) {
    const takes = positionals.map(positionalPlaceholder).join(' ');
    throw new UsageError(
      `too many arguments: expected ${takes === '' ? '[params]' : takes} and flags (see --help)`,
    );
  }
  const params: Record<string, unknown> = {};
  for (const [at, word] of words.entries()) {
    const flag = positionals[at];
    if (flag === undefined) continue;
    if (flagNamesOf(flag, flags).some((name) => command.getOptionValueSource(optionKeyOf(name)) === 'cli'))
      throw new UsageError(`use either ${positionalPlaceholder(flag)} or --${flag.name}, not both`);
    try {
      params[flag.path[0] ?? ''] = parseFlagValue(flag, word);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw new UsageError(`${positionalPlaceholder(flag)}: ${error.message}`);
    }
  }
  return params;
}

/** Adds the flags to a command. */
export function addFlags(command: Command, flags: readonly Flag[]): void {
  for (const flag of flags) {
    const isSwitch = flag.kind === 'boolean' && !flag.nullable;
    const option = new Option(
      isSwitch ? `--${flag.name}` : `--${flag.name} ${placeholderOf(flag)}`,
      describeFlag(flag),
    ).helpGroup('Parameters:');
    // The choices serve help and completion; `valueOf` validates the value.
    if (flag.choices.length > 0) option.choices(flag.choices);
    const [, short] = flagNamesOf(flag, flags);
    if (!isSwitch)
      option.argParser((typed: string, before: unknown) => {
        const value = parseFlagValue(flag, typed);
        if (!flag.repeated) return new ParsedFlagValue(value);
        // A user may give several JSON items as one list instead of repeating the flag.
        const items: unknown[] = flag.kind === 'json' ? [value].flat() : [value];
        const others =
          before instanceof ParsedFlagValue && Array.isArray(before.value) ? (before.value as unknown[]) : [];
        return new ParsedFlagValue([...others, ...items]);
      });
    command.addOption(option);
    if (short !== undefined) {
      const other = new Option(`--${short} ${placeholderOf(flag)}`).hideHelp();
      command.addOption(other.argParser((typed: string) => new ParsedFlagValue(parseFlagValue(flag, typed))));
    }
    if (describeNegatedFlag(flag) !== undefined)
      command.addOption(new Option(`--no-${flag.name}`).hideHelp());
  }
}

/** Sets the value at a path of an object, creating objects on the way. */
function setAtPath(
  target: Record<string, unknown>,
  [first = '', ...rest]: readonly string[],
  value: unknown,
): void {
  if (rest.length === 0) target[first] = value;
  else {
    const inner = target[first];
    const object: Record<string, unknown> = isObject(inner) ? { ...inner } : {};
    setAtPath(object, rest, value);
    target[first] = object;
  }
}

/**
 * Returns the value that `--x` or `--no-x` stands for: true or false for a boolean, otherwise null or an
 * empty list.
 */
function switchValue({ kind, repeated, nullable }: Flag, isOn: boolean): unknown {
  if (kind === 'boolean' && !repeated) return isOn;
  return nullable ? null : [];
}

/** Returns the typed parameters merged over the base parameters. */
export function collectTypedParams(
  command: Command,
  flags: readonly Flag[],
  base: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const params = { ...base };
  for (const flag of flags) {
    for (const key of flagNamesOf(flag, flags).map(optionKeyOf)) {
      if (command.getOptionValueSource(key) !== 'cli') continue;
      const kept: unknown = command.getOptionValue(key);
      setAtPath(
        params,
        flag.path,
        kept instanceof ParsedFlagValue ? kept.value : switchValue(flag, kept === true),
      );
    }
  }
  return params;
}
