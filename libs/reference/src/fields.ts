/** What goes into a call and comes out of it, in words: made from the schemas themselves. */
import { Id, meaningOfParameter, type Operation } from '@muster/registry';
import { z } from 'zod';
import { type JsonSchema as Json } from './json-schema.ts';

/** A field as a table shows it. */
export interface Field {
  /** With its path, such as `git.pullRequest.number`, or `items[].title`. */
  readonly name: string;
  /** Such as `integer`, `"story" | "epic"`, `Story[]`, `string | null`; a capitalized name is a record. */
  readonly type: string;
  readonly required: boolean;
  /** As JSON; null where there is none. */
  readonly default: string | null;
  /** Limits and meaning; empty where the name says all. */
  readonly description: string;
}

type Direction = 'input' | 'output';

const toJson = (schema: z.ZodType, io: Direction): Json =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json;

/** The fields of an object, those of objects inside it behind it. */
export const fieldsOf = (schema: z.ZodObject, io: Direction): Field[] => [...walk(toJson(schema, io), '')];

/** The parameters of an operation; all of them have a meaning. */
export const parametersOf = (operation: Operation): Field[] => [
  ...walk(toJson(operation.params, 'input'), '', (path) => meaningOfParameter(operation, path)),
];

const namedIn = (schema: z.ZodObject): [name: string, json: Json][] =>
  Object.entries(toJson(schema, 'output').$defs ?? {});

/** The records that a result names, each with its fields, as deep as they go. */
export const recordsOf = (schema: z.ZodObject): Map<string, Field[]> =>
  new Map(namedIn(schema).map(([name, json]) => [name, [...walk(json, '')]]));

/** A record that is no object, such as a status, in the words of its type. */
export function simpleRecordsOf(schema: z.ZodObject): Map<string, string> {
  return new Map(
    namedIn(schema)
      .filter(([, json]) => json.properties === undefined)
      .map(([name, json]) => [name, typeOf(json)]),
  );
}

/** What a field means whose schema does not say. */
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

/** Of an object, or of the objects of an array, that has no name of its own. */
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

/** The names that a parameter of a member or an agent takes, in the schema's words; undefined for other parameters. */
export function personForm({ anyOf = [], ...json }: Json): string | undefined {
  const named = [json, ...anyOf].find(({ 'x-muster-ref': ref }) => ref !== undefined && personKinds.has(ref));
  return named?.description;
}

/** What it means, and then its limits, where its meaning does not say them. */
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

/** The type says already what every id is. */
const meaningOf = ({ description, format }: Json): string | undefined =>
  format === 'uuid' && description === Id.meta()?.description ? undefined : description;

/** Numbers that mean no limit: what an integer of PostgreSQL or of JSON can hold. */
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
