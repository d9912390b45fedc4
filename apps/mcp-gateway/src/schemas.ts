/**
 * A zod schema as a model reads it. The raw JSON schemas of the contract cost a model several times as much and tell
 * it no more: references are inlined (clients refuse a bare one at the root), patterns of formats and references are
 * left out, and limits stand as words in the description.
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

/** PostgreSQL's largest integer stands where the contract means "no limit that anybody meets". */
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

/** `targetDate` → `Target date`; `epicId` → `Epic id`. */
function inWords(name: string): string {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Limits that nobody meets by writing as people do are told by the answer to whoever meets them. */
const mostTold = { '': unlimited - 1, ' characters': 500, ' items': 20 } as const;

const range = (least: unknown, most: unknown, unit: keyof typeof mostTold): string[] => {
  const from = typeof least === 'number' && least > -unlimited ? least : undefined;
  const to = typeof most === 'number' && most <= mostTold[unit] ? most : undefined;
  if (to === undefined) return from === undefined || from <= 1 ? [] : [`at least ${from}${unit}`];
  return [from === undefined || (from === 0 && unit !== '') ? `≤ ${to}${unit}` : `${from}–${to}${unit}`];
};

/** What a model should know of a value's limits and cannot be told in fewer tokens by keywords. */
const limitsOf = ({
  minimum,
  maximum,
  minLength,
  maxLength,
  minItems,
  maxItems,
  enum: values,
}: JsonSchema) =>
  values !== undefined
    ? []
    : [
        ...range(minimum, maximum, ''),
        ...range(minLength, maxLength, ' characters'),
        ...range(minItems, maxItems, ' items'),
      ];

/** Formats that a model writes differently when it knows of them. */
const toldFormats: ReadonlySet<unknown> = new Set(['date-time', 'date', 'uri']);

/** Longer lists of values cost more than they tell; the answer to a wrong one names them all. */
const mostValues = 12;

/** A default that says what leaving out says anyway. */
const isEmptyDefault = (value: unknown): boolean =>
  value === false || value === '' || (Array.isArray(value) && value.length === 0);

/** The first clause of the contract's words; `describe_operation` tells the rest. */
const firstClause = (words: string): string => /^.{4,}?(?=; |\. |$)/.exec(words)?.[0] ?? words;

/** `name` where it is a named parameter of a tool, which is always described. */
function wordsOf(schema: JsonSchema, name: string | undefined): string | undefined {
  const { description, format, enum: values } = schema;
  const ref = schema['x-muster-ref'];
  if (ref !== undefined) return `Id or key (${ref === 'story' ? 'WEB-42' : 'WEB'})`;
  // The contract's own words for any id say nothing of which one is meant.
  if (format === 'uuid' && (description === undefined || description.startsWith('UUID')))
    return name === undefined ? undefined : inWords(name);
  if (description !== undefined) return firstClause(description);
  if (name === undefined) return undefined;
  const told = limitsOf(schema);
  if (Array.isArray(values) && values.length > mostValues)
    told.push(`such as ${values.slice(0, 3).join(', ')}`);
  return told.length > 0 ? told.join(', ') : inWords(name);
}

function slim(schema: JsonSchema, name?: string): JsonSchema {
  const { type, properties, items, anyOf, format, required, enum: values, const: only } = schema;
  const words = wordsOf(schema, name);
  return {
    ...(typeof type === 'string' && { type }),
    ...(Array.isArray(type) && choice((type as string[]).map((one) => ({ type: one })))),
    ...(Array.isArray(values) && values.length <= mostValues && { enum: values }),
    ...(only !== undefined && { const: only }),
    ...('default' in schema && !isEmptyDefault(schema['default']) && { default: schema['default'] }),
    ...(toldFormats.has(format) && { format }),
    ...(words !== undefined && { description: words }),
    ...(Array.isArray(anyOf) && choice(anyOf as JsonSchema[])),
    ...(items !== undefined && { items: slim(items as JsonSchema) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, property]) => [key, slim(property)]),
      ),
    }),
    ...(required !== undefined && required.length > 0 && { required }),
  };
}

/** Each branch with one type of its own: some clients map schemas onto dialects that know no list of types. */
const choice = (options: readonly JsonSchema[]): JsonSchema => ({
  anyOf: options.map((option) => (option.type === 'null' ? { type: 'null' } : slim(option))),
});

/** The parameters of an operation. Unknown ones are refused by the API, so the schema need not say it. */
export function paramsSchema(params: z.ZodObject): ObjectSchema {
  const { properties = {}, required } = inlined(params, 'input');
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, slim(property, name)]),
    ),
    ...(required !== undefined && required.length > 0 && { required }),
  };
}

/** A result, for clients that ask for it; what does not fit is cut, and named beside it. */
export function resultSchema(result: z.ZodObject): ObjectSchema {
  const { properties = {}, ...others } = inlined(result, 'output');
  return { ...others, type: 'object', properties: { ...properties, cut: { type: 'object' } } };
}
