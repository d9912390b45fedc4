/** Derives the command line flags of an operation from the schema of its parameters. */
import { type Operation } from '@muster/contract';
import { z } from 'zod';
import { parametersOf } from '../fields.ts';
import { type JsonSchema as Json } from '../json-schema.ts';

/** Flags of every command, which select the address and the login of the call. */
export const connectionFlags: ReadonlySet<string> = new Set(['base-url', 'token', 'profile']);

export type FlagKind = 'text' | 'integer' | 'number' | 'boolean' | 'json';

/** A parameter, or a nested field of one, as a flag. */
export interface Flag {
  /** The path of the value in the parameters: `['git', 'headSha']`. */
  readonly path: readonly string[];
  /** The name of the flag without dashes: `git.head-sha`. */
  readonly name: string;
  readonly kind: FlagKind;
  /** The possible values, if they can be listed. */
  readonly choices: readonly string[];
  /** True if the flag may be repeated, once for each item. */
  readonly repeated: boolean;
  /** True if `null` is allowed, which clears the value. */
  readonly nullable: boolean;
  readonly required: boolean;
  /** True for a long text, which may be in a file: `@file`, or `-` for stdin. */
  readonly fromFile: boolean;
  /** True if the parameter's nested fields have flags of their own. */
  readonly hasFields: boolean;
  /** The kind of value in one word: `story`, `id`, `json`. */
  readonly placeholder: string;
  readonly default: string | null;
  readonly meaning: string;
}

/**
 * The maximum length in characters from which a text counts as long, because users write such a text in an
 * editor.
 */
const longTextMinLength = 5_000;

/** Converts `headSha` to `head-sha`. */
export const toKebabCase = (word: string): string =>
  word.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const placeholderByFormat: Readonly<Record<string, string>> = {
  uuid: 'id',
  'date-time': 'time',
  date: 'date',
  uri: 'url',
  email: 'email',
};
const placeholderByKind: Readonly<Record<FlagKind, string>> = {
  text: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'true|false|null',
  json: 'json',
};

interface FlagShape {
  readonly kind: FlagKind;
  readonly choices: readonly string[];
  readonly repeated: boolean;
  readonly nullable: boolean;
  readonly fromFile: boolean;
  readonly placeholder: string;
  readonly properties: Readonly<Record<string, Json>>;
}

function resolveRef(json: Json, defs: Readonly<Record<string, Json>>): Json {
  const name = json.$ref?.replace('#/$defs/', '');
  return name === undefined ? json : (defs[name] ?? json);
}

/** Returns the possible schemas of a value, without null. */
function alternativesOf(
  json: Json,
  defs: Readonly<Record<string, Json>>,
): { options: Json[]; nullable: boolean } {
  const all = (json.anyOf ?? [json]).map((option) => resolveRef(option, defs));
  const options = all.filter(({ type }) => type !== 'null');
  const nullable =
    options.length < all.length || all.some(({ type }) => Array.isArray(type) && type.includes('null'));
  return { options, nullable };
}

const kindByJsonType: Readonly<Record<string, FlagKind>> = {
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
};

function flagShapeOf(json: Json, defs: Readonly<Record<string, Json>>): FlagShape {
  const { options, nullable } = alternativesOf(resolveRef(json, defs), defs);
  // If both one value and a list are allowed, the flag takes a list.
  const list = options.find(({ type }) => type === 'array');
  if (list !== undefined) {
    const item = flagShapeOf(list.items ?? {}, defs);
    return { ...item, repeated: true, nullable, properties: {}, fromFile: item.kind === 'json' };
  }
  // If both a number and a text are allowed, the flag takes a text.
  const scalars = options.every(({ type }) => type === 'string' || type === 'integer');
  const text = scalars ? options.find(({ type }) => type === 'string') : undefined;
  const only = text ?? options[0] ?? {};
  const type = [only.type ?? []].flat().find((name) => name !== 'null') ?? 'object';
  const kind = options.length > 1 && text === undefined ? 'json' : (kindByJsonType[type] ?? 'json');
  const choices = (only.enum ?? []).filter((value) => typeof value === 'string');
  return {
    ...{ kind, choices, nullable, repeated: false },
    placeholder:
      choices.length > 0
        ? 'choice'
        : (only['x-muster-ref'] ?? placeholderByFormat[only.format ?? ''] ?? placeholderByKind[kind]),
    fromFile: kind === 'json' || (only.maxLength ?? 0) >= longTextMinLength,
    properties: only.properties ?? {},
  };
}

/**
 * Returns the name of a parameter's flag. A name that every command uses gets the namespace as prefix:
 * `--forges-base-url`.
 */
function fullFlagName({ namespace }: Operation, path: readonly string[]): string {
  const name = path.map(toKebabCase).join('.');
  return connectionFlags.has(name) ? `${toKebabCase(namespace)}-${name}` : name;
}

/** Lists the flags of all parameters, each before those of its nested fields. */
export function flagsOf(operation: Operation): Flag[] {
  const schema = z.toJSONSchema(operation.params, { io: 'input', unrepresentable: 'any' }) as Json;
  const words = new Map(parametersOf(operation).map((field) => [field.name, field]));
  const walk = (object: Json, above: readonly string[]): Flag[] =>
    Object.entries(object.properties ?? {}).flatMap(([word, json]) => {
      const path = [...above, word];
      const { properties, ...shape } = flagShapeOf(json, schema.$defs ?? {});
      const field = words.get(path.join('.'));
      const flag: Flag = {
        ...{ ...shape, path, name: fullFlagName(operation, path) },
        required: above.length === 0 && object.required?.includes(word) === true,
        hasFields: Object.keys(properties).length > 0,
        default: field?.default ?? null,
        meaning: field?.description ?? '',
      };
      return [flag, ...walk({ properties }, path)];
    });
  return walk(schema, []);
}

/** Returns the flag of a field in an issue, or the field itself if it has no flag. */
export function flagName(flags: readonly Flag[], field: string): string {
  const flag = flags.find(({ path }) => path.join('.') === field);
  return flag === undefined ? field : `--${flag.name}`;
}
