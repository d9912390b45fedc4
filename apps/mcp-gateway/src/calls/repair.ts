/**
 * Corrects arguments that a model wrote imprecisely. Examples are JSON text instead of a list or object, a
 * number as text, a value in another case, or a single value instead of a list. Some models send null for
 * every optional parameter, because their client declares all parameters required. An argument is corrected
 * only if it has one possible meaning; otherwise it is unchanged, and the API reports the error.
 */
import { badRequest, parseUntrustedJson, parsePullUrl } from '@muster/contract';
import { type AnswerBody } from '../answers/answers.ts';
import { resolveParameterName, normalizeIdentifierText, matchValue } from './names.ts';
import {
  clearParam,
  isFreeFormObject,
  type ToolSchema,
  type ObjectSchema,
  removeNull,
} from '../tools/schemas.ts';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const schemaOptionsOf = (schema: ToolSchema): readonly ToolSchema[] => {
  const { anyOf, ...only } = removeNull(schema);
  return Array.isArray(anyOf) ? (anyOf as ToolSchema[]) : [only];
};

/** Returns true if the field accepts any text, so that text is passed on unchanged. */
const acceptsAnyText = ({ type, enum: values }: ToolSchema): boolean =>
  type === 'string' && !Array.isArray(values);

const isNumberSchema = ({ type }: ToolSchema): boolean => type === 'integer' || type === 'number';

const isReferenceSchema = ({ format, 'x-muster-ref': ref }: ToolSchema): boolean =>
  format === 'uuid' || ref !== undefined;

/**
 * Returns true for ids, keys, enum values, numbers and booleans. A list with one such value may replace the
 * value itself.
 */
const isScalarSchema = (schema: ToolSchema): boolean =>
  isNumberSchema(schema) ||
  schema.type === 'boolean' ||
  Array.isArray(schema['enum']) ||
  isReferenceSchema(schema);

function parseJsonOrUndefined(text: string): unknown {
  try {
    return parseUntrustedJson(text);
  } catch {
    return undefined;
  }
}

const decimalPattern = /^-?\d{1,15}(\.\d{1,15})?$/;
const separatorPattern = /[\s,;|"'`()[\]{}]/;
/** Words that models write for "no value", and Boolean words. None of them is ever a name. */
const noValuePattern = /^(null|none|nil|undefined|nan|n\/a|na|nothing|empty|unset|void|true|false|-*)$/i;

/**
 * Returns true if a text given for a list can only be a single item: it has no separators and is not a word
 * for "no value".
 */
const isSingleItemText = (text: string): boolean =>
  !separatorPattern.test(text) && !noValuePattern.test(text);

function parseListText(itemSchema: ToolSchema, text: string): unknown {
  const read = parseJsonOrUndefined(text);
  if (Array.isArray(read)) return read;
  if (isRecord(read))
    return schemaOptionsOf(itemSchema).some(({ properties }) => properties !== undefined)
      ? [read]
      : undefined;
  const several = text.split(',').map((part) => part.trim());
  // Ids and keys contain no comma.
  if (
    several.length > 1 &&
    schemaOptionsOf(itemSchema).every(isReferenceSchema) &&
    several.every(isSingleItemText)
  )
    return several.map((part) => repairValue(itemSchema, part));
  const item = repairValue(itemSchema, text);
  const isItem = schemaOptionsOf(itemSchema).some(
    (option) =>
      (acceptsAnyText(option) && isSingleItemText(text)) ||
      (Array.isArray(option['enum']) && option['enum'].includes(item)),
  );
  return isItem ? [item] : undefined;
}

/** Converts the URL of a pull request or merge request for a parameter that takes its number and URL. */
function parsePullRequestUrl({ properties = {} }: ToolSchema, text: string): AnswerBody | undefined {
  const number = /^https?:\/\/\S+$/i.test(text) ? parsePullUrl(text)?.number : undefined;
  if (number === undefined || !('number' in properties) || !('url' in properties)) return undefined;
  return { number, url: text };
}

/** Interprets the text as a value of the schema; undefined if it is none. */
function parseTextAs(schema: ToolSchema, rawText: string): unknown {
  const { type, items, enum: values } = schema;
  const text = rawText.trim();
  if (isNumberSchema(schema)) return decimalPattern.test(text) ? Number(text) : undefined;
  if (type === 'boolean') return { true: true, false: false }[text.toLowerCase()];
  if (Array.isArray(values)) return matchValue(text, values);
  if (type === 'array') return parseListText((items ?? {}) as ToolSchema, text);
  if (type === 'object' || isFreeFormObject(schema)) {
    const object = parseJsonOrUndefined(text);
    return isRecord(object) ? object : parsePullRequestUrl(schema, text);
  }
  return undefined;
}

function repairText(options: readonly ToolSchema[], value: string): unknown {
  if (options.some(({ enum: values }) => Array.isArray(values) && values.includes(value))) return value;
  const text = options.find(acceptsAnyText);
  if (text !== undefined) return normalizeIdentifierText(text, value);
  for (const option of options) {
    const read = parseTextAs(option, value);
    if (read !== undefined) return repairValue(option, read);
  }
  return value;
}

/** Wraps a single value for a list parameter, and converts a whole number for a text parameter. */
function repairSingleValue(options: readonly ToolSchema[], value: unknown): unknown {
  const list = options.find(({ type }) => type === 'array');
  if (list !== undefined) {
    const items = (list['items'] ?? {}) as ToolSchema;
    const item = repairValue(items, value);
    const fits = schemaOptionsOf(items).some((option) =>
      isRecord(item)
        ? option.properties !== undefined
        : typeof item === 'number'
          ? isNumberSchema(option)
          : typeof item === 'string' && acceptsAnyText(option),
    );
    return fits ? [item] : value;
  }
  // Convert only safe integers. Larger numbers have lost digits in parsing, and fractions may have lost
  // trailing zeros.
  const isText = Number.isSafeInteger(value) && options.every(acceptsAnyText);
  return isText ? String(value) : value;
}

function repairList(options: readonly ToolSchema[], value: readonly unknown[]): unknown {
  const list = options.find(({ type }) => type === 'array');
  if (list !== undefined) {
    const items = list['items'] as ToolSchema | undefined;
    return items === undefined ? value : value.map((item: unknown) => repairValue(items, item));
  }
  const [only] = value;
  const [option] = options;
  return value.length === 1 &&
    options.length === 1 &&
    option !== undefined &&
    isScalarSchema(option) &&
    !Array.isArray(only)
    ? repairValue(option, only)
    : value;
}

function repairValue(schema: ToolSchema, value: unknown): unknown {
  const options = schemaOptionsOf(schema);
  if (typeof value === 'string') return repairText(options, value);
  if (Array.isArray(value)) return repairList(options, value);
  if (isRecord(value)) {
    const object = options.find(({ properties }) => properties !== undefined);
    if (object !== undefined) return repairFields(object, value);
    return options.some(isFreeFormObject) ? value : repairSingleValue(options, value);
  }
  if (typeof value !== 'number' || options.some(isNumberSchema)) return value;
  return repairSingleValue(options, value);
}

/** Returns true if the text is `null` and the parameter accepts neither text nor a list. */
const isNullAsText = (schema: ToolSchema, value: unknown): boolean =>
  typeof value === 'string' &&
  value.trim() === 'null' &&
  schemaOptionsOf(schema).every(
    (option) => isNumberSchema(option) || option.type === 'boolean' || option.type === 'object',
  );

/** Parameters that may be lowered to their maximum. The call then returns earlier, or continues by cursor. */
const clampedParameters: ReadonlySet<string> = new Set(['waitSeconds', 'limit']);

function clampToMaximum(schema: ToolSchema, name: string, value: unknown): unknown {
  const { maximum } = schema;
  const isTooLarge = typeof value === 'number' && typeof maximum === 'number' && value > maximum;
  return clampedParameters.has(name) && isTooLarge ? maximum : value;
}

/** Splits a comma-separated list of paths without whitespace. A single path is unlikely to look like that. */
const splitPaths = (name: string, value: unknown): unknown =>
  name === 'filesTouched' && typeof value === 'string' && /^[^\s,[\]"]+(, *[^\s,[\]"]+)+$/.test(value)
    ? value.split(/, */)
    : value;

/** Values that the product generates and clients return unchanged. */
const opaqueParameters: ReadonlySet<string> = new Set(['leaseToken', 'cursor', 'part']);

function repairFields({ properties = {}, required = [] }: ToolSchema, value: AnswerBody): AnswerBody {
  return Object.fromEntries(
    Object.entries(value).flatMap(([given, field]) => {
      const name = resolveParameterName(given, properties, value);
      const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (schema === undefined) return [[name, field]];
      // Null is meant literally if a required parameter accepts it.
      if (field === null || isNullAsText(schema, field)) return required.includes(name) ? [[name, null]] : [];
      if (opaqueParameters.has(name) && typeof field === 'string') return [[name, field.trim()]];
      return [[name, clampToMaximum(schema, name, repairValue(schema, splitPaths(name, field)))]];
    }),
  );
}

/** Parts of a request in which null is a meaningful value. */
const fieldsWithMeaningfulNull: ReadonlySet<string> = new Set(['arguments', 'inputResponses']);

function dropNullsDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropNullsDeep);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => {
      if (field === null) return [];
      return [[name, fieldsWithMeaningfulNull.has(name) ? field : dropNullsDeep(field)]];
    }),
  );
}

/** Removes nulls from `params` and `_meta`. Some clients send null for every field that they would omit. */
export function dropRequestNulls(message: unknown): unknown {
  if (!isRecord(message) || !('params' in message)) return message;
  const { params, ...others } = message;
  return params === null ? others : { ...others, params: dropNullsDeep(params) };
}

/** Returns a call whose arguments are an object: null is dropped, and JSON text is parsed. */
export function normalizeArguments<
  Message extends { readonly method: string; readonly params?: AnswerBody | undefined },
>(message: Message): Message {
  const { method, params } = message;
  if (method !== 'tools/call' || params === undefined) return message;
  const { arguments: args, ...others } = params;
  if (args === null) return { ...message, params: others };
  const read = typeof args === 'string' ? parseTextAs({ type: 'object' }, args) : undefined;
  return read === undefined ? message : { ...message, params: { ...others, arguments: read } };
}

/** Corrects the arguments by the schema that the contract publishes. */
export const repairArguments = (schema: ObjectSchema, args: AnswerBody): AnswerBody =>
  repairFields(schema, args);

const invalidParameter = (path: string, message: string): Error =>
  badRequest('The parameters are invalid.', [{ path, message }]);

function setToNull(args: AnswerBody, path: string): AnswerBody {
  const [name = '', field] = path.split('.');
  const value = args[name];
  const isGiven = field === undefined ? name in args : isRecord(value) && field in value;
  if (isGiven) throw invalidParameter(clearParam, `${path} has a value, but is also listed in clear`);
  if (field === undefined) return { ...args, [name]: null };
  return { ...args, [name]: { ...(isRecord(value) ? value : {}), [field]: null } };
}

/** Sets the fields that are named in the clear parameter to null. */
export function applyClearParameter(clears: readonly string[], args: AnswerBody): AnswerBody {
  const { [clearParam]: given, ...others } = args;
  if (clears.length === 0) return args;
  if (given === undefined || given === null) return others;
  const list = { type: 'array', items: { type: 'string', enum: clears } } as const;
  const paths = repairValue(list, given);
  if (!Array.isArray(paths) || paths.some((path) => !clears.includes(path as string)))
    throw invalidParameter(clearParam, `must be a list of: ${clears.join(', ')}`);
  return (paths as string[]).reduce(setToNull, others);
}
