/**
 * Corrects arguments that a model wrote imprecisely. Examples are JSON text instead of a list or object, a
 * number as text, a value in another case, or a single value instead of a list. Some models send null for
 * every optional parameter, because their client declares all parameters required. An argument is corrected
 * only if it has one possible meaning; otherwise it is unchanged, and the API reports the error.
 */
import { badRequest, parseUntrustedJson, pullAddressOf } from '@muster/registry';
import { type AnswerBody } from '../answers/answers.ts';
import { nameMeant, textMeant, valueNamed } from './names.ts';
import { clearParam, isOpen, type ToolSchema, type ObjectSchema, withoutNull } from '../tools/schemas.ts';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const optionsOf = (schema: ToolSchema): readonly ToolSchema[] => {
  const { anyOf, ...only } = withoutNull(schema);
  return Array.isArray(anyOf) ? (anyOf as ToolSchema[]) : [only];
};

/** Returns true if the field accepts any text, so that text is passed on unchanged. */
const takesText = ({ type, enum: values }: ToolSchema): boolean =>
  type === 'string' && !Array.isArray(values);

const isNumber = ({ type }: ToolSchema): boolean => type === 'integer' || type === 'number';

const isReference = ({ format, 'x-muster-ref': ref }: ToolSchema): boolean =>
  format === 'uuid' || ref !== undefined;

/**
 * Returns true for ids, keys, enum values, numbers and booleans. A list with one such value may replace the
 * value itself.
 */
const isSingle = (schema: ToolSchema): boolean =>
  isNumber(schema) || schema.type === 'boolean' || Array.isArray(schema['enum']) || isReference(schema);

function parsed(text: string): unknown {
  try {
    return parseUntrustedJson(text);
  } catch {
    return undefined;
  }
}

const decimal = /^-?\d{1,15}(\.\d{1,15})?$/;
const separators = /[\s,;|"'`()[\]{}]/;
/** Words that models write for "no value", and Boolean words. None of them is ever a name. */
const noValue = /^(null|none|nil|undefined|nan|n\/a|na|nothing|empty|unset|void|true|false|-*)$/i;

/**
 * Returns true if a text given for a list can only be a single item: it has no separators and is not a word
 * for "no value".
 */
const isOneItem = (text: string): boolean => !separators.test(text) && !noValue.test(text);

function listIn(items: ToolSchema, text: string): unknown {
  const read = parsed(text);
  if (Array.isArray(read)) return read;
  if (isRecord(read))
    return optionsOf(items).some(({ properties }) => properties !== undefined) ? [read] : undefined;
  const several = text.split(',').map((part) => part.trim());
  // Ids and keys contain no comma.
  if (several.length > 1 && optionsOf(items).every(isReference) && several.every(isOneItem))
    return several.map((part) => meant(items, part));
  const item = meant(items, text);
  const isItem = optionsOf(items).some(
    (option) =>
      (takesText(option) && isOneItem(text)) ||
      (Array.isArray(option['enum']) && option['enum'].includes(item)),
  );
  return isItem ? [item] : undefined;
}

/** Converts the URL of a pull request or merge request for a parameter that takes its number and URL. */
function pullRequestAt({ properties = {} }: ToolSchema, text: string): AnswerBody | undefined {
  const number = /^https?:\/\/\S+$/i.test(text) ? pullAddressOf(text)?.number : undefined;
  if (number === undefined || !('number' in properties) || !('url' in properties)) return undefined;
  return { number, url: text };
}

/** Interprets the text as a value of the schema; undefined if it is none. */
function readAs(schema: ToolSchema, given: string): unknown {
  const { type, items, enum: values } = schema;
  const text = given.trim();
  if (isNumber(schema)) return decimal.test(text) ? Number(text) : undefined;
  if (type === 'boolean') return { true: true, false: false }[text.toLowerCase()];
  if (Array.isArray(values)) return valueNamed(text, values);
  if (type === 'array') return listIn((items ?? {}) as ToolSchema, text);
  if (type === 'object' || isOpen(schema)) {
    const object = parsed(text);
    return isRecord(object) ? object : pullRequestAt(schema, text);
  }
  return undefined;
}

function meantText(options: readonly ToolSchema[], value: string): unknown {
  if (options.some(({ enum: values }) => Array.isArray(values) && values.includes(value))) return value;
  const text = options.find(takesText);
  if (text !== undefined) return textMeant(text, value);
  for (const option of options) {
    const read = readAs(option, value);
    if (read !== undefined) return meant(option, read);
  }
  return value;
}

/** Wraps a single value for a list parameter, and converts a whole number for a text parameter. */
function meantAlone(options: readonly ToolSchema[], value: unknown): unknown {
  const list = options.find(({ type }) => type === 'array');
  if (list !== undefined) {
    const items = (list['items'] ?? {}) as ToolSchema;
    const item = meant(items, value);
    const fits = optionsOf(items).some((option) =>
      isRecord(item)
        ? option.properties !== undefined
        : typeof item === 'number'
          ? isNumber(option)
          : typeof item === 'string' && takesText(option),
    );
    return fits ? [item] : value;
  }
  // Convert only safe integers. Larger numbers have lost digits in parsing, and fractions may have lost
  // trailing zeros.
  const isText = Number.isSafeInteger(value) && options.every(takesText);
  return isText ? String(value) : value;
}

function meantList(options: readonly ToolSchema[], value: readonly unknown[]): unknown {
  const list = options.find(({ type }) => type === 'array');
  if (list !== undefined) {
    const items = list['items'] as ToolSchema | undefined;
    return items === undefined ? value : value.map((item: unknown) => meant(items, item));
  }
  const [only] = value;
  const [option] = options;
  return value.length === 1 &&
    options.length === 1 &&
    option !== undefined &&
    isSingle(option) &&
    !Array.isArray(only)
    ? meant(option, only)
    : value;
}

function meant(schema: ToolSchema, value: unknown): unknown {
  const options = optionsOf(schema);
  if (typeof value === 'string') return meantText(options, value);
  if (Array.isArray(value)) return meantList(options, value);
  if (isRecord(value)) {
    const object = options.find(({ properties }) => properties !== undefined);
    if (object !== undefined) return fieldsMeant(object, value);
    return options.some(isOpen) ? value : meantAlone(options, value);
  }
  if (typeof value !== 'number' || options.some(isNumber)) return value;
  return meantAlone(options, value);
}

/** Returns true if the text is `null` and the parameter accepts neither text nor a list. */
const isNullAsText = (schema: ToolSchema, value: unknown): boolean =>
  typeof value === 'string' &&
  value.trim() === 'null' &&
  optionsOf(schema).every(
    (option) => isNumber(option) || option.type === 'boolean' || option.type === 'object',
  );

/** Parameters that may be lowered to their maximum. The call then returns earlier, or continues by cursor. */
const clamped: ReadonlySet<string> = new Set(['waitSeconds', 'limit']);

function clampedTo(schema: ToolSchema, name: string, value: unknown): unknown {
  const { maximum } = schema;
  const isTooLarge = typeof value === 'number' && typeof maximum === 'number' && value > maximum;
  return clamped.has(name) && isTooLarge ? maximum : value;
}

/** Splits a comma-separated list of paths without whitespace. A single path is unlikely to look like that. */
const pathsIn = (name: string, value: unknown): unknown =>
  name === 'filesTouched' && typeof value === 'string' && /^[^\s,[\]"]+(, *[^\s,[\]"]+)+$/.test(value)
    ? value.split(/, */)
    : value;

/** Values that the product generates and clients return unchanged. */
const opaque: ReadonlySet<string> = new Set(['leaseToken', 'cursor', 'part']);

function fieldsMeant({ properties = {}, required = [] }: ToolSchema, value: AnswerBody): AnswerBody {
  return Object.fromEntries(
    Object.entries(value).flatMap(([given, field]) => {
      const name = nameMeant(given, properties, value);
      const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (schema === undefined) return [[name, field]];
      // Null is meant literally if a required parameter accepts it.
      if (field === null || isNullAsText(schema, field)) return required.includes(name) ? [[name, null]] : [];
      if (opaque.has(name) && typeof field === 'string') return [[name, field.trim()]];
      return [[name, clampedTo(schema, name, meant(schema, pathsIn(name, field)))]];
    }),
  );
}

/** Parts of a request in which null is a meaningful value. */
const valuesOfCaller: ReadonlySet<string> = new Set(['arguments', 'inputResponses']);

function withoutNullsIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNullsIn);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => {
      if (field === null) return [];
      return [[name, valuesOfCaller.has(name) ? field : withoutNullsIn(field)]];
    }),
  );
}

/** Removes nulls from `params` and `_meta`. Some clients send null for every field that they would omit. */
export function withoutNulls(message: unknown): unknown {
  if (!isRecord(message) || !('params' in message)) return message;
  const { params, ...others } = message;
  return params === null ? others : { ...others, params: withoutNullsIn(params) };
}

/** Returns a call whose arguments are an object: null is dropped, and JSON text is parsed. */
export function withArguments<
  Message extends { readonly method: string; readonly params?: AnswerBody | undefined },
>(message: Message): Message {
  const { method, params } = message;
  if (method !== 'tools/call' || params === undefined) return message;
  const { arguments: args, ...others } = params;
  if (args === null) return { ...message, params: others };
  const read = typeof args === 'string' ? readAs({ type: 'object' }, args) : undefined;
  return read === undefined ? message : { ...message, params: { ...others, arguments: read } };
}

/** Corrects the arguments by the schema that the contract publishes. */
export const asMeant = (schema: ObjectSchema, args: AnswerBody): AnswerBody => fieldsMeant(schema, args);

const wrong = (path: string, message: string): Error =>
  badRequest('The parameters are invalid.', [{ path, message }]);

function cleared(args: AnswerBody, path: string): AnswerBody {
  const [name = '', field] = path.split('.');
  const value = args[name];
  const isGiven = field === undefined ? name in args : isRecord(value) && field in value;
  if (isGiven) throw wrong(clearParam, `${path} is given, but also named in clear`);
  if (field === undefined) return { ...args, [name]: null };
  return { ...args, [name]: { ...(isRecord(value) ? value : {}), [field]: null } };
}

/** Sets the fields that are named in the clear parameter to null. */
export function withCleared(clears: readonly string[], args: AnswerBody): AnswerBody {
  const { [clearParam]: given, ...others } = args;
  if (clears.length === 0) return args;
  if (given === undefined || given === null) return others;
  const list = { type: 'array', items: { type: 'string', enum: clears } } as const;
  const paths = meant(list, given);
  if (!Array.isArray(paths) || paths.some((path) => !clears.includes(path as string)))
    throw wrong(clearParam, `must be a list of: ${clears.join(', ')}`);
  return (paths as string[]).reduce(cleared, others);
}
