/**
 * A zod schema as a model reads it. The raw JSON schemas of the contract cost a model several times as much and tell
 * it no more: references are inlined (clients refuse a bare one at the root), patterns of formats and references are
 * left out, and limits and defaults stand as words in the description. What is left is what every vendor takes whole:
 * OpenAI's strict mode, Gemini and Anthropic each refuse a list of tools for one keyword that they do not know.
 */
import { z } from 'zod';

export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** An object's schema, as the parameters of a tool are one. */
export type ObjectSchema = JsonSchema & {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, JsonSchema>>;
};

/** PostgreSQL's largest integer stands where the contract means "no limit that a caller meets". */
const unlimited = 2_147_483_647;

/** JSON schema as zod writes it, with each reference replaced by what it refers to. */
function inlined(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema & {
    readonly $defs?: Readonly<Record<string, JsonSchema>>;
  };
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(visit);
    if (typeof node !== 'object' || node === null) return node;
    const { $ref, ...others } = node as JsonSchema;
    const target = typeof $ref === 'string' ? $defs[$ref.replace('#/$defs/', '')] : undefined;
    return Object.fromEntries(
      Object.entries({ ...target, ...others }).map(([key, value]) => [key, visit(value)]),
    );
  };
  return visit(root) as JsonSchema;
}

const isNull = ({ type }: JsonSchema): boolean => type === 'null';

/** What a schema takes beside null: null means "leave it" to models whose client makes every parameter required. */
export function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf, type, ...others } = schema;
  if (Array.isArray(type)) {
    const [only] = (type as string[]).filter((one) => one !== 'null');
    return { ...others, ...(only !== undefined && { type: only }) };
  }
  if (!Array.isArray(anyOf)) return schema;
  const left = (anyOf as JsonSchema[]).filter((option) => !isNull(option));
  return left.length === 1 ? { ...left[0], ...others } : { ...others, anyOf: left };
}

export const takesNull = ({ anyOf, type }: JsonSchema): boolean =>
  (Array.isArray(anyOf) && (anyOf as JsonSchema[]).some(isNull)) ||
  (Array.isArray(type) && (type as string[]).includes('null'));

/** An object that says nothing of its fields: it goes as JSON text, the one form that every vendor takes. */
export const isOpen = ({ type, properties, anyOf, enum: values }: JsonSchema): boolean =>
  properties === undefined &&
  (type === 'object' || (type === undefined && anyOf === undefined && values === undefined));

/** The words in a name: `toMemberId` → to, member, id. */
const wordsIn = (text: string): string[] =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');

/** Words that tell nothing beside a name. */
const fillers: ReadonlySet<string> = new Set(['a', 'an', 'the', 'its', 'of', 'your', 'own', 'id']);

/** Whether the words say nothing that the name does not. */
export function repeatsName(words: string, name: string): boolean {
  const known = new Set(wordsIn(name));
  return wordsIn(words).every((word) => known.has(word) || fillers.has(word));
}

/** Greater limits are left out: a caller rarely exceeds them, and the answer to one that does names the limit. */
const mostTold = { '': 999_999, ' characters': 40, ' items': 20 } as const;

const range = (least: unknown, most: unknown, unit: keyof typeof mostTold): string[] => {
  const from = typeof least === 'number' && least > -unlimited ? least : undefined;
  const to = typeof most === 'number' && most <= mostTold[unit] ? most : undefined;
  if (to === undefined) return from === undefined || from <= 1 ? [] : [`at least ${from}${unit}`];
  return [from === undefined || (from === 0 && unit !== '') ? `≤ ${to}${unit}` : `${from}–${to}${unit}`];
};

/** What a model should know of a value's limits and cannot be told in fewer tokens by keywords. */
const limitsOf = ({ minimum, maximum, minLength, maxLength, minItems, maxItems, enum: values }: JsonSchema) =>
  values !== undefined
    ? []
    : [
        ...range(minimum, maximum, ''),
        ...range(minLength, maxLength, ' characters'),
        ...range(minItems, maxItems, ' items'),
      ];

/** The one format that every vendor knows and a model writes differently for. */
const toldFormat = 'date-time';

/** Longer lists of values cost more than they tell; the answer to a wrong one names them all. */
const mostValues = 12;

/** A default that says what leaving out says anyway. */
const isEmptyDefault = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  value === 'none' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** The first clause of the contract's words; `describe_operation` tells the rest. */
const firstClause = (words: string): string => /^.{4,}?(?=; |\. |$)/.exec(words)?.[0] ?? words;

/** The names that a parameter takes for each kind of record. */
const refWords: Readonly<Record<string, string>> = {
  ...{ story: 'Id or key', project: 'Id or key' },
  ...{ member: 'Id or handle', agent: 'Id or slug', actor: 'Id, handle or slug' },
};

/** What the contract says of the value itself, where that is more than what any value of its kind is. */
function meaningOf(schema: JsonSchema): string | undefined {
  const { description, format } = schema;
  const ref = schema['x-muster-ref'];
  if (typeof ref === 'string') return refWords[ref];
  // The contract's own words for any id say nothing of which one is meant.
  if (format === 'uuid' && description?.startsWith('UUID') === true) return undefined;
  return description === undefined ? undefined : firstClause(description);
}

/** Said of a value that has no words of its own. */
const ofFormat: ReadonlyMap<unknown, string> = new Map([
  ['uri', 'https://…'],
  ['date', 'YYYY-MM-DD'],
]);

/** What the instructions say of these serves every tool that takes one. */
const saidOnce: ReadonlySet<string> = new Set(['leaseToken', 'storyId', 'projectId']);

/** Words that tell more than the name, or none. */
function wordsOf(schema: JsonSchema, name: string): string | undefined {
  if (saidOnce.has(name)) return undefined;
  const { format, enum: values, default: otherwise } = schema;
  const meaning = meaningOf(schema);
  const form = ofFormat.get(format);
  const told =
    meaning !== undefined && !repeatsName(meaning, name)
      ? [meaning]
      : [...limitsOf(schema), ...(form === undefined ? [] : [form])];
  if (Array.isArray(values) && values.length > mostValues)
    told.push(`such as ${values.slice(0, 3).join(', ')}`);
  if (!isEmptyDefault(otherwise)) told.push(`default ${String(otherwise)}`);
  return told.length > 0 ? told.join(', ') : undefined;
}

/**
 * The kind that says all of them: `[status, list of statuses]` is a list, since one alone is taken for a list of one, and
 * `[number, text]` is text.
 */
function widest(options: readonly JsonSchema[]): JsonSchema {
  const [list, text] = ['array', 'string'].map((kind) => options.find(({ type }) => type === kind));
  const isText = options.every(({ type }) => type === 'string' || type === 'integer');
  const found = list ?? (isText ? text : undefined);
  if (found === undefined) throw new Error('a choice of kinds has no form that every vendor takes');
  return found;
}

/** What is said of a list says it of its items. */
function itemOf(item: JsonSchema, said: string | undefined): JsonSchema {
  const { description: _, ...unsaid } = item;
  return said === undefined ? item : unsaid;
}

function slim(given: JsonSchema, name: string): JsonSchema {
  const schema = withoutNull(given);
  const words = wordsOf(schema, name);
  const described = words !== undefined && { description: words };
  const { type, properties, items, anyOf, format, required, enum: values, const: only } = schema;
  if (Array.isArray(anyOf)) return { ...slim(widest(anyOf as JsonSchema[]), name), ...described };
  if (isOpen(schema)) return { type: 'string', description: words ?? 'JSON object' };
  const listed = typeof only === 'string' ? [only] : values;
  const needed = required?.filter((one) => !takesNull(properties?.[one] ?? {})) ?? [];
  return {
    ...(typeof type === 'string' && { type }),
    ...(Array.isArray(listed) && listed.length <= mostValues && { enum: listed }),
    ...(format === toldFormat && { format }),
    ...described,
    ...(items !== undefined && { items: itemOf(slim(items as JsonSchema, name), words) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, property]) => [key, slim(property, key)]),
      ),
    }),
    ...(needed.length > 0 && { required: needed }),
  };
}

/** The parameters as the contract states them, with nothing left out: by these, calls are read. */
export function statedParams(params: z.ZodObject): ObjectSchema {
  return { ...inlined(params, 'input'), type: 'object' } as ObjectSchema;
}

/** Paths of what null clears: of parameters, and of fields that are merged one by one. */
export function clearable({ properties }: ObjectSchema): string[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    if (takesNull(property)) return [name];
    const { properties: fields = {} } = property;
    return Object.entries(fields).flatMap(([field, inner]) => (takesNull(inner) ? [`${name}.${field}`] : []));
  });
}

/** The parameter that names what to clear. */
export const clearParam = 'clear';

/** The parameters of an operation. Unknown ones are refused by the API, so the schema need not say it. */
export function paramsSchema(params: z.ZodObject, clears: readonly string[] = []): ObjectSchema {
  const { properties, required } = slim(statedParams(params), '');
  return {
    type: 'object',
    properties: {
      ...properties,
      ...(clears.length > 0 && {
        [clearParam]: {
          type: 'array',
          description: 'To empty',
          items: { type: 'string', ...(clears.length <= mostValues && { enum: clears }) },
        },
      }),
    },
    ...(required !== undefined && { required }),
  };
}

/** Says that an earlier equal call had done it, and that it was not done again. */
export const replayedField = 'replayed';

/**
 * A result, or an error, for clients that ask for it; what does not fit is cut, and named beside it. Some clients hold
 * refusals to it as well.
 */
export function resultSchema(result: z.ZodObject): ObjectSchema {
  const { properties = {}, required = [], ...others } = inlined(result, 'output');
  return {
    ...others,
    type: 'object',
    properties: {
      ...{ ...properties, cut: { type: 'object' }, [replayedField]: { type: 'boolean' } },
      error: { type: 'object' },
    },
    anyOf: [{ required }, { required: ['error'] }],
  };
}
