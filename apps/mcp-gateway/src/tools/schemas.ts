/**
 * Converts zod schemas to compact JSON schemas for models. The contract's full schemas cost several times as
 * many tokens without helping the model. References are inlined, because clients reject one at the root;
 * patterns of formats and ids are dropped; limits and defaults become words. The result uses only keywords
 * that all vendors accept: OpenAI's strict mode, Gemini and Anthropic each reject a whole tool list for one
 * unknown keyword.
 */
import { Id } from '@muster/contract';
import { z } from 'zod';

export interface ToolSchema {
  readonly [keyword: string]: unknown;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ToolSchema>>;
  readonly required?: readonly string[];
}

/** The schema of an object, such as the parameters of a tool. */
export type ObjectSchema = ToolSchema & {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ToolSchema>>;
};

/** PostgreSQL's largest integer, which the contract uses for "no practical limit". */
const noPracticalLimit = 2_147_483_647;

/** Returns zod's JSON schema with each reference replaced by its definition. */
function inlineReferences(schema: z.ZodType, io: 'input' | 'output'): ToolSchema {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as ToolSchema & {
    readonly $defs?: Readonly<Record<string, ToolSchema>>;
  };
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(visit);
    if (typeof node !== 'object' || node === null) return node;
    const { $ref, ...others } = node as ToolSchema;
    const target = typeof $ref === 'string' ? $defs[$ref.replace('#/$defs/', '')] : undefined;
    return Object.fromEntries(
      Object.entries({ ...target, ...others }).map(([key, value]) => [key, visit(value)]),
    );
  };
  return visit(root) as ToolSchema;
}

const isNullSchema = ({ type }: ToolSchema): boolean => type === 'null';

/**
 * Removes null from a schema. Models whose client makes every parameter required send null for an omitted
 * parameter.
 */
export function removeNull(schema: ToolSchema): ToolSchema {
  const { anyOf, type, ...others } = schema;
  if (Array.isArray(type)) {
    const [only] = (type as string[]).filter((one) => one !== 'null');
    return { ...others, ...(only !== undefined && { type: only }) };
  }
  if (!Array.isArray(anyOf)) return schema;
  const left = (anyOf as ToolSchema[]).filter((option) => !isNullSchema(option));
  return left.length === 1 ? { ...left[0], ...others } : { ...others, anyOf: left };
}

export const acceptsNull = ({ anyOf, type }: ToolSchema): boolean =>
  (Array.isArray(anyOf) && (anyOf as ToolSchema[]).some(isNullSchema)) ||
  (Array.isArray(type) && (type as string[]).includes('null'));

/**
 * Returns true for an object without declared fields. It is passed as JSON text, the only form that every
 * vendor accepts.
 */
export const isFreeFormObject = ({ type, properties, anyOf, enum: values }: ToolSchema): boolean =>
  properties === undefined &&
  (type === 'object' || (type === undefined && anyOf === undefined && values === undefined));

/** Splits a name into words: `toMemberId` → to, member, id. */
const splitNameWords = (text: string): string[] =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');

/** Words that add nothing to a name. */
const fillerWords: ReadonlySet<string> = new Set(['a', 'an', 'the', 'its', 'of', 'your', 'own', 'id']);

/** Returns true if the words add nothing to the name. */
export function repeatsName(words: string, name: string): boolean {
  const known = new Set(splitNameWords(name));
  return splitNameWords(words).every((word) => known.has(word) || fillerWords.has(word));
}

/**
 * Limits up to these values are described. Callers rarely exceed higher limits, and the error then names the
 * limit.
 */
const maxDescribedLimits = { '': 999_999, ' characters': 40, ' items': 20 } as const;

const describeRange = (
  lowerLimit: unknown,
  upperLimit: unknown,
  unit: keyof typeof maxDescribedLimits,
): string[] => {
  const from = typeof lowerLimit === 'number' && lowerLimit > -noPracticalLimit ? lowerLimit : undefined;
  const to =
    typeof upperLimit === 'number' && upperLimit <= maxDescribedLimits[unit] ? upperLimit : undefined;
  if (to === undefined) return from === undefined || from <= 1 ? [] : [`at least ${from}${unit}`];
  return [from === undefined || (from === 0 && unit !== '') ? `≤ ${to}${unit}` : `${from}–${to}${unit}`];
};

/** Describes a value's limits, in fewer tokens than keywords would take. */
const describeLimits = ({
  minimum,
  maximum,
  minLength,
  maxLength,
  minItems,
  maxItems,
  enum: values,
}: ToolSchema) =>
  values !== undefined
    ? []
    : [
        ...describeRange(minimum, maximum, ''),
        ...describeRange(minLength, maxLength, ' characters'),
        ...describeRange(minItems, maxItems, ' items'),
      ];

/** The only format that every vendor supports and that models get wrong without it. */
const keptFormat = 'date-time';

/**
 * Maximum number of enum values that a description lists. A longer list costs too many tokens; the error for
 * a wrong value lists all values.
 */
const maxEnumValues = 12;

/** Returns true for a default that is equivalent to omitting the parameter. */
const isEmptyDefault = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  value === 'none' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** Returns the first clause of the contract's description; `describe_operation` returns all of it. */
const firstClause = (words: string): string => /^.{4,}?(?=; |\. |$)/.exec(words)?.[0] ?? words;

/** The identifiers that a parameter accepts, by kind of record. */
const identifierDescriptions: Readonly<Record<string, string>> = {
  ...{ story: 'Id or key', project: 'Id or key' },
  ...{ member: 'Id or handle', agent: 'Id or slug', actor: 'Id, handle or slug' },
};

/** The contract's description of every id. */
const idDescription = z.globalRegistry.get(Id)?.description;

/** Returns the contract's description of a value, if it adds information to the kind of value. */
function contractDescriptionOf(schema: ToolSchema): string | undefined {
  const { description, format } = schema;
  const ref = schema['x-muster-ref'];
  if (typeof ref === 'string') return identifierDescriptions[ref];
  // Omit the contract's description of an id, because it is the same for every id.
  if (format === 'uuid' && description === idDescription) return undefined;
  return description === undefined ? undefined : firstClause(description);
}

/** Descriptions of formats, for values that have no description of their own. */
const formatDescriptions: ReadonlyMap<unknown, string> = new Map([
  ['uri', 'https://…'],
  ['date', 'YYYY-MM-DD'],
]);

/** Parameters that the server's instructions explain once for all tools. */
const parametersInInstructions: ReadonlySet<string> = new Set(['leaseToken', 'storyId', 'projectId']);

/** Describes a parameter; undefined if its name already says everything. */
function describeParameter(schema: ToolSchema, name: string): string | undefined {
  if (parametersInInstructions.has(name)) return undefined;
  const { format, enum: values, default: otherwise } = schema;
  const meaning = contractDescriptionOf(schema);
  const form = formatDescriptions.get(format);
  const told =
    meaning !== undefined && !repeatsName(meaning, name)
      ? [meaning]
      : [...describeLimits(schema), ...(form === undefined ? [] : [form])];
  if (Array.isArray(values) && values.length > maxEnumValues)
    told.push(`such as ${values.slice(0, 3).join(', ')}`);
  if (!isEmptyDefault(otherwise)) told.push(`default ${String(otherwise)}`);
  return told.length > 0 ? told.join(', ') : undefined;
}

/**
 * Chooses the most general option. `[status, list of statuses]` becomes a list, because a single value is
 * accepted as a list of one; `[number, text]` becomes text.
 */
function mostGeneralOption(options: readonly ToolSchema[]): ToolSchema {
  const [list, text] = ['array', 'string'].map((kind) => options.find(({ type }) => type === kind));
  const isText = options.every(({ type }) => type === 'string' || type === 'integer');
  const found = list ?? (isText ? text : undefined);
  if (found === undefined) throw new Error('a choice of kinds has no form that every vendor takes');
  return found;
}

/** Drops the item's description if the list has one. */
function dropRepeatedDescription(item: ToolSchema, listDescription: string | undefined): ToolSchema {
  const { description: _, ...unsaid } = item;
  return listDescription === undefined ? item : unsaid;
}

function simplifySchema(rawSchema: ToolSchema, name: string): ToolSchema {
  const schema = removeNull(rawSchema);
  const words = describeParameter(schema, name);
  const described = words !== undefined && { description: words };
  const { type, properties, items, anyOf, format, required, enum: values, const: only } = schema;
  if (Array.isArray(anyOf))
    return { ...simplifySchema(mostGeneralOption(anyOf as ToolSchema[]), name), ...described };
  if (isFreeFormObject(schema)) return { type: 'string', description: words ?? 'JSON object' };
  const listed = typeof only === 'string' ? [only] : values;
  const needed = required?.filter((one) => !acceptsNull(properties?.[one] ?? {})) ?? [];
  return {
    ...(typeof type === 'string' && { type }),
    ...(Array.isArray(listed) && listed.length <= maxEnumValues && { enum: listed }),
    ...(format === keptFormat && { format }),
    ...described,
    ...(items !== undefined && {
      items: dropRepeatedDescription(simplifySchema(items as ToolSchema, name), words),
    }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, property]) => [key, simplifySchema(property, key)]),
      ),
    }),
    ...(needed.length > 0 && { required: needed }),
  };
}

/** Returns the complete parameters of the contract, which arguments are checked against. */
export function fullParamsSchema(params: z.ZodObject): ObjectSchema {
  return { ...inlineReferences(params, 'input'), type: 'object' } as ObjectSchema;
}

/** Lists the paths that accept null as "clear this": parameters, and fields that are merged individually. */
export function listClearablePaths({ properties }: ObjectSchema): string[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    if (acceptsNull(property)) return [name];
    const { properties: fields = {} } = property;
    return Object.entries(fields).flatMap(([field, inner]) =>
      acceptsNull(inner) ? [`${name}.${field}`] : [],
    );
  });
}

/** The parameter that lists the paths to clear. */
export const clearParam = 'clear';

/**
 * Returns the schema of an operation's parameters. It need not forbid unknown ones, because the API rejects
 * them.
 */
export function compactParamsSchema(
  params: z.ZodObject,
  clearablePaths: readonly string[] = [],
): ObjectSchema {
  const { properties, required } = simplifySchema(fullParamsSchema(params), '');
  return {
    type: 'object',
    properties: {
      ...properties,
      ...(clearablePaths.length > 0 && {
        [clearParam]: {
          type: 'array',
          description: 'To empty',
          items: { type: 'string', ...(clearablePaths.length <= maxEnumValues && { enum: clearablePaths }) },
        },
      }),
    },
    ...(required !== undefined && { required }),
  };
}

/** The field that marks a result as a replay: an earlier equal call did the work, and it was not repeated. */
export const replayedField = 'replayed';

/**
 * Returns the schema of a result or an error. A result that does not fit is cut, and `cut` names the parts.
 * Some clients validate errors against it too.
 */
export function resultSchema(result: z.ZodObject): ObjectSchema {
  const { properties = {}, required = [], ...others } = inlineReferences(result, 'output');
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
