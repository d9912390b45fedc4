/** The flags by which the command line takes an operation's parameters, made from their schema. */
import { type Operation } from '@muster/registry';
import { z } from 'zod';
import { parametersOf } from '../fields.ts';
import { type JsonSchema as Json } from '../json-schema.ts';

/** Flags of every command: where the call goes, and whose it is. */
export const connectionFlags: ReadonlySet<string> = new Set(['base-url', 'token', 'profile']);

export type FlagKind = 'text' | 'integer' | 'number' | 'boolean' | 'json';

/** One parameter, or a field inside one, as a flag. */
export interface Flag {
  /** Where its value goes: `['git', 'headSha']`. */
  readonly path: readonly string[];
  /** Without the dashes: `git.head-sha`. */
  readonly name: string;
  readonly kind: FlagKind;
  /** The values that there are, where they can be counted. */
  readonly choices: readonly string[];
  /** May be given again and again; each one is an item. */
  readonly repeated: boolean;
  /** `null` means something: it clears. */
  readonly nullable: boolean;
  readonly required: boolean;
  /** A long text, which may stand in a file: `@file`, or `-` for stdin. */
  readonly fromFile: boolean;
  /** Fields of its own have flags of their own. */
  readonly hasFields: boolean;
  /** What is to be typed, in a word: `story`, `id`, `json`. */
  readonly placeholder: string;
  readonly default: string | null;
  readonly meaning: string;
}

/** From so many characters on, a text is rather written in an editor than on a command line. */
const longText = 5_000;

/** `headSha` → `head-sha`. */
export const kebab = (word: string): string =>
  word.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const formats: Readonly<Record<string, string>> = {
  uuid: 'id',
  'date-time': 'time',
  date: 'date',
  uri: 'url',
  email: 'email',
};
const placeholders: Readonly<Record<FlagKind, string>> = {
  text: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'true|false|null',
  json: 'json',
};

interface Shape {
  readonly kind: FlagKind;
  readonly choices: readonly string[];
  readonly repeated: boolean;
  readonly nullable: boolean;
  readonly fromFile: boolean;
  readonly placeholder: string;
  readonly properties: Readonly<Record<string, Json>>;
}

function resolve(json: Json, defs: Readonly<Record<string, Json>>): Json {
  const name = json.$ref?.replace('#/$defs/', '');
  return name === undefined ? json : (defs[name] ?? json);
}

/** What a value can be besides null. */
function optionsOf(json: Json, defs: Readonly<Record<string, Json>>): { options: Json[]; nullable: boolean } {
  const all = (json.anyOf ?? [json]).map((option) => resolve(option, defs));
  const options = all.filter(({ type }) => type !== 'null');
  const nullable =
    options.length < all.length || all.some(({ type }) => Array.isArray(type) && type.includes('null'));
  return { options, nullable };
}

const kinds: Readonly<Record<string, FlagKind>> = {
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
};

function shapeOf(json: Json, defs: Readonly<Record<string, Json>>): Shape {
  const { options, nullable } = optionsOf(resolve(json, defs), defs);
  // Where one value or several will do, several are one kind.
  const list = options.find(({ type }) => type === 'array');
  if (list !== undefined) {
    const item = shapeOf(list.items ?? {}, defs);
    return { ...item, repeated: true, nullable, properties: {}, fromFile: item.kind === 'json' };
  }
  // A number may be said as text, where text will do as well.
  const scalars = options.every(({ type }) => type === 'string' || type === 'integer');
  const text = scalars ? options.find(({ type }) => type === 'string') : undefined;
  const only = text ?? options[0] ?? {};
  const type = [only.type ?? []].flat().find((name) => name !== 'null') ?? 'object';
  const kind = options.length > 1 && text === undefined ? 'json' : (kinds[type] ?? 'json');
  const choices = (only.enum ?? []).filter((value) => typeof value === 'string');
  return {
    ...{ kind, choices, nullable, repeated: false },
    placeholder:
      choices.length > 0
        ? 'choice'
        : (only['x-muster-ref'] ?? formats[only.format ?? ''] ?? placeholders[kind]),
    fromFile: kind === 'json' || (only.maxLength ?? 0) >= longText,
    properties: only.properties ?? {},
  };
}

/** A parameter that is called as a flag of every command says whose it is: `--forges-base-url`. */
function nameOf({ namespace }: Operation, path: readonly string[]): string {
  const name = path.map(kebab).join('.');
  return connectionFlags.has(name) ? `${kebab(namespace)}-${name}` : name;
}

/** The flags of all parameters, each before those of the fields inside it. */
export function flagsOf(operation: Operation): Flag[] {
  const schema = z.toJSONSchema(operation.params, { io: 'input', unrepresentable: 'any' }) as Json;
  const words = new Map(parametersOf(operation).map((field) => [field.name, field]));
  const walk = (object: Json, above: readonly string[]): Flag[] =>
    Object.entries(object.properties ?? {}).flatMap(([word, json]) => {
      const path = [...above, word];
      const { properties, ...shape } = shapeOf(json, schema.$defs ?? {});
      const field = words.get(path.join('.'));
      const flag: Flag = {
        ...{ ...shape, path, name: nameOf(operation, path) },
        required: above.length === 0 && object.required?.includes(word) === true,
        hasFields: Object.keys(properties).length > 0,
        default: field?.default ?? null,
        meaning: field?.description ?? '',
      };
      return [flag, ...walk({ properties }, path)];
    });
  return walk(schema, []);
}

/** What a field of an issue is called on the command line; the field itself where there is no flag for it. */
export function flagName(flags: readonly Flag[], field: string): string {
  const flag = flags.find(({ path }) => path.join('.') === field);
  return flag === undefined ? field : `--${flag.name}`;
}
