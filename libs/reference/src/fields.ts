/** Describes the parameters and results of operations, using their schemas. */
import { Id, meaningOfParameter, type Operation } from '@muster/registry';
import { z } from 'zod';
import { type JsonSchema as Json } from './json-schema.ts';

/** A field as a row of a table. */
export interface Field {
  /** The name with its path, such as `git.pullRequest.number` or `items[].title`. */
  readonly name: string;
  /**
   * The type, such as `integer`, `"story" | "epic"`, `Story[]` or `string | null`. A capitalized name is a
   * record.
   */
  readonly type: string;
  readonly required: boolean;
  /** The default as JSON, or null if there is none. */
  readonly default: string | null;
  /** The meaning and the limits of the field. Empty if its name is sufficient. */
  readonly description: string;
}

type Direction = 'input' | 'output';

const toJson = (schema: z.ZodType, io: Direction): Json =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json;

/** Lists the fields of an object, each followed by its nested fields. */
export const fieldsOf = (schema: z.ZodObject, io: Direction): Field[] => [...walk(toJson(schema, io), '')];

/** Lists the parameters of an operation. All of them have a meaning. */
export const parametersOf = (operation: Operation): Field[] => [
  ...walk(toJson(operation.params, 'input'), '', (path) => meaningOfParameter(operation, path)),
];

const namedIn = (schema: z.ZodObject): [name: string, json: Json][] =>
  Object.entries(toJson(schema, 'output').$defs ?? {});

/** Lists the records that a result names, with their fields, at any depth. */
export const recordsOf = (schema: z.ZodObject): Map<string, Field[]> =>
  new Map(namedIn(schema).map(([name, json]) => [name, [...walk(json, '')]]));

/** Lists the records that are not objects, such as a status, with their types. */
export function simpleRecordsOf(schema: z.ZodObject): Map<string, string> {
  return new Map(
    namedIn(schema)
      .filter(([, json]) => json.properties === undefined)
      .map(([name, json]) => [name, typeOf(json)]),
  );
}

/** A function that returns the meaning of a field whose schema has no description. */
type Meaning = (path: string) => string | undefined;

const noMeaning: Meaning = () => undefined;

function* walk(json: Json, prefix: string, meaning: Meaning = noMeaning): Generator<Field> {
  for (const [word, property] of Object.entries(json.properties ?? {})) {
    const name = `${prefix}${word}`;
    yield {
      name,
      type: typeOf(property),
      required: json.required?.includes(word) === true,
      default: property.default === undefined ? null : JSON.stringify(property.default),
      description: wordsOf(property, meaning(name)),
    };
    yield* inside(property, name, meaning);
  }
}

/** Yields the fields of an object without a record name, or of such objects in an array. */
function* inside(json: Json, name: string, meaning: Meaning): Generator<Field> {
  for (const option of [json, ...(json.anyOf ?? [])]) {
    if (option.properties !== undefined) yield* walk(option, `${name}.`, meaning);
    if (option.items?.properties !== undefined) yield* walk(option.items, `${name}[].`, meaning);
  }
}

function typeOf(json: Json): string {
  if (json.$ref !== undefined) return json.$ref.slice(json.$ref.lastIndexOf('/') + 1);
  if (json.anyOf !== undefined) return unite(json.anyOf.map(typeOf));
  if (json.const !== undefined) return JSON.stringify(json.const);
  if (json.enum !== undefined) return unite(json.enum.map((value) => JSON.stringify(value)));
  if (Array.isArray(json.type)) return unite(json.type.map((type: string) => typeOf({ ...json, type })));
  switch (json.type) {
    case 'array': {
      const item = typeOf(json.items ?? {});
      return item.includes(' ') ? `(${item})[]` : `${item}[]`;
    }
    case 'string':
      return stringOf(json.format);
    case 'object':
      return 'object';
    case undefined:
      return 'any';
    default:
      return String(json.type);
  }
}

/**
 * Returns the description of the names that a member or agent parameter accepts. Returns undefined for other
 * parameters.
 */
export function personForm({ anyOf = [], ...json }: Json): string | undefined {
  const named = [json, ...anyOf].find(({ 'x-muster-ref': ref }) => ref !== undefined && personKinds.has(ref));
  return named?.description;
}

/** Describes a field: its meaning, followed by the limits that the meaning does not mention. */
function wordsOf(json: Json, otherwise: string | undefined): string {
  const form = personForm(json);
  if (form !== undefined) return otherwise === undefined ? form : `${otherwise}. ${form}`;
  const meaning = (meaningOf(json) ?? otherwise)?.replace(/[.;]$/, '');
  const limits = limitsOf(json);
  if (meaning === undefined || limits === undefined) return capital(meaning ?? limits ?? '');
  const numbers = limits.match(/\d+/g) ?? [];
  const isSaid = numbers.every(
    (number) =>
      meaning.replaceAll(/(?<=\d),(?=\d{3})/g, '').includes(number) ||
      meaning.includes(`${Number(number) / 1024} KiB`),
  );
  return capital(isSaid ? meaning : `${meaning}; ${limits}`);
}

const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

const unite = (types: readonly string[]): string => [...new Set(types)].join(' | ');

function stringOf(format: string | undefined): string {
  if (format === 'uuid') return 'id';
  if (format === 'date-time') return 'time';
  if (format === 'uri') return 'url';
  return 'string';
}

const personKinds: ReadonlySet<string> = new Set(['member', 'agent', 'actor']);

/**
 * Returns the description of a schema. Returns undefined for the general description of ids, because the type
 * already says that the value is an id.
 */
const meaningOf = ({ description, format }: Json): string | undefined =>
  format === 'uuid' && description === Id.meta()?.description ? undefined : description;

/**
 * Returns true for a limit that was really set. The largest integers of PostgreSQL and JSON mean that there
 * is no limit.
 */
const isLimit = (value: number | undefined): value is number =>
  value !== undefined && Math.abs(value) < 2_147_483_647;

function limitsOf(json: Json): string | undefined {
  const [bare = json] = json.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  return (
    between(bare.minLength, bare.maxLength, 'characters') ??
    between(bare.minItems, bare.maxItems, 'items') ??
    between(bare.minimum, bare.maximum, '')
  );
}

function between(least: number | undefined, most: number | undefined, unit: string): string | undefined {
  const [from, to] = [isLimit(least) ? least : undefined, isLimit(most) ? most : undefined];
  const words = unit === '' ? '' : ` ${unit}`;
  if (from !== undefined && to !== undefined) return `${from} to ${to}${words}`;
  if (to !== undefined) return `at most ${to}${words}`;
  return from === undefined || from === 0 ? undefined : `at least ${from}${words}`;
}
