/** Describes the parameters and results of operations, using their schemas. */
import { Id, type Operation } from '@muster/contract';
import { meaningOfParameter } from '@muster/registry';
import { z } from 'zod';
import { type JsonSchema as Json } from './json-schema.ts';

/** A field as a row of a table. */
export interface ReferenceField {
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

const toJsonSchema = (schema: z.ZodType, io: Direction): Json =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json;

/** Lists the fields of an object, each followed by its nested fields. */
export const fieldsOf = (schema: z.ZodObject, io: Direction): ReferenceField[] => [
  ...walkFields(toJsonSchema(schema, io), ''),
];

/** Lists the parameters of an operation. All of them have a meaning. */
export const parametersOf = (operation: Operation): ReferenceField[] => [
  ...walkFields(toJsonSchema(operation.params, 'input'), '', (path) => meaningOfParameter(operation, path)),
];

const namedSchemasOf = (schema: z.ZodObject): [name: string, json: Json][] =>
  Object.entries(toJsonSchema(schema, 'output').$defs ?? {});

/** Lists the records that a result names, with their fields, at any depth. */
export const recordsOf = (schema: z.ZodObject): Map<string, ReferenceField[]> =>
  new Map(namedSchemasOf(schema).map(([name, json]) => [name, [...walkFields(json, '')]]));

/** Lists the records that are not objects, such as a status, with their types. */
export function nonObjectRecordsOf(schema: z.ZodObject): Map<string, string> {
  return new Map(
    namedSchemasOf(schema)
      .filter(([, json]) => json.properties === undefined)
      .map(([name, json]) => [name, typeName(json)]),
  );
}

/** A function that returns the meaning of a field whose schema has no description. */
type MeaningLookup = (path: string) => string | undefined;

const noMeaning: MeaningLookup = () => undefined;

function* walkFields(
  json: Json,
  prefix: string,
  meaning: MeaningLookup = noMeaning,
): Generator<ReferenceField> {
  for (const [word, property] of Object.entries(json.properties ?? {})) {
    const name = `${prefix}${word}`;
    yield {
      name,
      type: typeName(property),
      required: json.required?.includes(word) === true,
      default: property.default === undefined ? null : JSON.stringify(property.default),
      description: describeField(property, meaning(name)),
    };
    yield* nestedFields(property, name, meaning);
  }
}

/** Yields the fields of an object without a record name, or of such objects in an array. */
function* nestedFields(json: Json, name: string, meaning: MeaningLookup): Generator<ReferenceField> {
  for (const option of [json, ...(json.anyOf ?? [])]) {
    if (option.properties !== undefined) yield* walkFields(option, `${name}.`, meaning);
    // The items of an array may be objects of several types. A field of several types is listed once.
    const listed = new Set<string>();
    for (const item of option.items === undefined ? [] : (option.items.oneOf ?? [option.items]))
      for (const field of walkFields(item, `${name}[].`, meaning)) {
        if (!listed.has(field.name)) yield field;
        listed.add(field.name);
      }
  }
}

function typeName(json: Json): string {
  if (json.$ref !== undefined) return json.$ref.slice(json.$ref.lastIndexOf('/') + 1);
  const options = json.anyOf ?? json.oneOf;
  if (options !== undefined) return unionOf(options.map(typeName));
  if (json.const !== undefined) return JSON.stringify(json.const);
  if (json.enum !== undefined) return unionOf(json.enum.map((value) => JSON.stringify(value)));
  if (Array.isArray(json.type)) return unionOf(json.type.map((type: string) => typeName({ ...json, type })));
  switch (json.type) {
    case 'array': {
      const item = typeName(json.items ?? {});
      return item.includes(' ') ? `(${item})[]` : `${item}[]`;
    }
    case 'string':
      return stringTypeName(json.format);
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
export function personParamDescription({ anyOf = [], ...json }: Json): string | undefined {
  const named = [json, ...anyOf].find(({ 'x-muster-ref': ref }) => ref !== undefined && personKinds.has(ref));
  return named?.description;
}

/** Describes a field: its meaning, followed by the limits that the meaning does not mention. */
function describeField(json: Json, fallback: string | undefined): string {
  const form = personParamDescription(json);
  if (form !== undefined) return fallback === undefined ? form : `${fallback}. ${form}`;
  const meaning = (ownDescriptionOf(json) ?? fallback)?.replace(/[.;]$/, '');
  const limits = describeLimits(json);
  if (meaning === undefined || limits === undefined) return capitalize(meaning ?? limits ?? '');
  const numbers = limits.match(/\d+/g) ?? [];
  const isSaid = numbers.every(
    (number) =>
      meaning.replaceAll(/(?<=\d),(?=\d{3})/g, '').includes(number) ||
      meaning.includes(`${Number(number) / 1024} KiB`),
  );
  return capitalize(isSaid ? meaning : `${meaning}; ${limits}`);
}

const capitalize = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

const unionOf = (types: readonly string[]): string => [...new Set(types)].join(' | ');

function stringTypeName(format: string | undefined): string {
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
const ownDescriptionOf = ({ description, format }: Json): string | undefined =>
  format === 'uuid' && description === Id.meta()?.description ? undefined : description;

/**
 * Returns true for a limit that was really set. The largest integers of PostgreSQL and JSON mean that there
 * is no limit.
 */
const isRelevantLimit = (value: number | undefined): value is number =>
  value !== undefined && Math.abs(value) < 2_147_483_647;

function describeLimits(json: Json): string | undefined {
  const [bare = json] = json.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  return (
    rangeText(bare.minLength, bare.maxLength, 'characters') ??
    rangeText(bare.minItems, bare.maxItems, 'items') ??
    rangeText(bare.minimum, bare.maximum, '')
  );
}

function rangeText(min: number | undefined, max: number | undefined, unit: string): string | undefined {
  const [from, to] = [isRelevantLimit(min) ? min : undefined, isRelevantLimit(max) ? max : undefined];
  const words = unit === '' ? '' : ` ${unit}`;
  if (from !== undefined && to !== undefined) return `${from} to ${to}${words}`;
  if (to !== undefined) return `at most ${to}${words}`;
  return from === undefined || from === 0 ? undefined : `at least ${from}${words}`;
}
