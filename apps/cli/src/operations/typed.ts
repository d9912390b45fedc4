/** Converts between parameters and the words of a command line. */
import { readFileSync } from 'node:fs';
import { argumentOf, type Flag, positionalsOf } from '@muster/reference';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '@muster/terminal';
import { isObject } from '../output/cells.ts';

/** True once standard input was read, which is possible only once. */
let stdinTaken = false;

/**
 * Reads a text: `-` is stdin and `@file` is a file. A text that itself starts with `@` is typed with `@@`.
 */
export function textOrFile(given: string): string {
  if (given === '-') {
    if (stdinTaken) throw new InvalidArgumentError('stdin was already read for another flag.');
    stdinTaken = true;
    return textIn(readFileSync(0));
  }
  if (!given.startsWith('@')) return given;
  if (given.startsWith('@@')) return given.slice(1);
  let bytes: Buffer;
  try {
    bytes = readFileSync(given.slice(1));
  } catch {
    throw new InvalidArgumentError(
      `The file "${given.slice(1)}" does not exist (to pass a text that starts with @, write @@…).`,
    );
  }
  return textIn(bytes);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
function textIn(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new InvalidArgumentError('The text must be encoded in UTF-8.');
  }
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('The value must be JSON.');
  }
}

const booleans: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Parses one typed value. */
function valueOf({ kind, choices, fromFile }: Flag, typed: string): unknown {
  const text = fromFile ? textOrFile(typed) : typed;
  switch (kind) {
    case 'text':
      if (choices.length > 0 && !choices.includes(text)) {
        throw new InvalidArgumentError(`The value must be one of ${choices.join(', ')}.`);
      }
      return text;
    case 'integer':
      if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError('The value must be a whole number.');
      return Number(text);
    case 'number':
      if (text.trim() === '' || !Number.isFinite(Number(text)))
        throw new InvalidArgumentError('The value must be a number.');
      return Number(text);
    case 'boolean': {
      const value = booleans.get(text);
      if (value === undefined) throw new InvalidArgumentError('The value must be true, false or null.');
      return value;
    }
    case 'json':
      return jsonOf(text);
  }
}

const placeholderOf = ({ kind, placeholder }: Flag): string =>
  kind === 'boolean' ? `[${placeholder}]` : `<${placeholder}>`;

/** Describes the negated flag: `--no-epic-id` clears a value, `--no-tags` empties a list. */
export const negationOf = ({ kind, repeated, nullable }: Flag): string | undefined => {
  if (kind === 'boolean' && !repeated) return 'false';
  if (nullable) return 'null to clear it';
  return repeated ? 'an empty list' : undefined;
};

function meaningOf(flag: Flag): string {
  const negation = negationOf(flag);
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
class Typed {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
}

/** Shorter flags for parameters that are used often. */
const shorter: ReadonlyMap<string, string> = new Map([
  ['project-id', 'project'],
  ['story-id', 'story'],
]);

/** Returns the names of a flag, its own name first. */
function namesOf({ name }: Flag, flags: readonly Flag[]): string[] {
  const short = shorter.get(name);
  return short === undefined || flags.some((other) => other.name === short) ? [name] : [name, short];
}

/** Returns the name under which commander stores the value. */
const keyOf = (name: string): string => new Option(`--${name}`).attributeName();

/** Returns the parameters that were typed without their flags. */
export function positionalParams(
  command: Command,
  flags: readonly Flag[],
  typed: readonly string[],
): Record<string, unknown> {
  const positionals = positionalsOf(flags);
  if (typed.length > positionals.length) {
    const takes = positionals.map(argumentOf).join(' ');
    throw new UsageError(
      `too many arguments: expected ${takes === '' ? '[params]' : takes} and flags (see --help)`,
    );
  }
  const params: Record<string, unknown> = {};
  for (const [at, word] of typed.entries()) {
    const flag = positionals[at];
    if (flag === undefined) continue;
    if (namesOf(flag, flags).some((name) => command.getOptionValueSource(keyOf(name)) === 'cli'))
      throw new UsageError(`use either ${argumentOf(flag)} or --${flag.name}, not both`);
    try {
      params[flag.path[0] ?? ''] = valueOf(flag, word);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw new UsageError(`${argumentOf(flag)}: ${error.message}`);
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
      meaningOf(flag),
    ).helpGroup('Parameters:');
    // The choices serve help and completion; `valueOf` validates the value.
    if (flag.choices.length > 0) option.choices(flag.choices);
    const [, short] = namesOf(flag, flags);
    if (!isSwitch) {
      option.argParser((typed: string, before: unknown) => {
        const value = valueOf(flag, typed);
        if (!flag.repeated) return new Typed(value);
        // A user may give several JSON items as one list instead of repeating the flag.
        const items: unknown[] = flag.kind === 'json' ? [value].flat() : [value];
        const others =
          before instanceof Typed && Array.isArray(before.value) ? (before.value as unknown[]) : [];
        return new Typed([...others, ...items]);
      });
    }
    command.addOption(option);
    if (short !== undefined) {
      const other = new Option(`--${short} ${placeholderOf(flag)}`).hideHelp();
      command.addOption(other.argParser((typed: string) => new Typed(valueOf(flag, typed))));
    }
    if (negationOf(flag) !== undefined) command.addOption(new Option(`--no-${flag.name}`).hideHelp());
  }
}

/** Sets the value at a path of an object, creating objects on the way. */
function put(
  target: Record<string, unknown>,
  [first = '', ...rest]: readonly string[],
  value: unknown,
): void {
  if (rest.length === 0) target[first] = value;
  else {
    const inner = target[first];
    const object: Record<string, unknown> = isObject(inner) ? { ...inner } : {};
    put(object, rest, value);
    target[first] = object;
  }
}

/**
 * Returns the value that `--x` or `--no-x` stands for: true or false for a boolean, otherwise null or an
 * empty list.
 */
function switched({ kind, repeated, nullable }: Flag, on: boolean): unknown {
  if (kind === 'boolean' && !repeated) return on;
  return nullable ? null : [];
}

/** Returns the typed parameters merged over the base parameters. */
export function paramsOf(
  command: Command,
  flags: readonly Flag[],
  base: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const params = { ...base };
  for (const flag of flags) {
    for (const key of namesOf(flag, flags).map(keyOf)) {
      if (command.getOptionValueSource(key) !== 'cli') continue;
      const kept: unknown = command.getOptionValue(key);
      put(params, flag.path, kept instanceof Typed ? kept.value : switched(flag, kept === true));
    }
  }
  return params;
}
