/**
 * Arguments as a model means them. Some send JSON text for a list or an object, a number as text, a value in another
 * case, one where a list is wanted, or null for every parameter that they leave alone, because their client declares all
 * of them required. Where that has one meaning it is taken; everything else stays as it came, and the API says what is
 * wrong with it.
 */
import { badRequest, parseUntrustedJson, pullAddressOf } from '@muster/registry';
import { type Answer } from '../answers/answers.ts';
import { nameMeant, textMeant, valueNamed } from './names.ts';
import { clearParam, isOpen, type JsonSchema, type ObjectSchema, withoutNull } from '../tools/schemas.ts';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const optionsOf = (schema: JsonSchema): readonly JsonSchema[] => {
  const { anyOf, ...only } = withoutNull(schema);
  return Array.isArray(anyOf) ? (anyOf as JsonSchema[]) : [only];
};

/** What takes any text takes this one as it came. */
const takesText = ({ type, enum: values }: JsonSchema): boolean =>
  type === 'string' && !Array.isArray(values);

const isNumber = ({ type }: JsonSchema): boolean => type === 'integer' || type === 'number';

const isReference = ({ format, 'x-muster-ref': ref }: JsonSchema): boolean =>
  format === 'uuid' || ref !== undefined;

/** Ids, keys, values of a list of them, numbers and booleans: a list of one of these is that one. */
const isSingle = (schema: JsonSchema): boolean =>
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
/** What a model writes for nothing at all. It is no name of anything, nor is a truth. */
const noValue = /^(null|none|nil|undefined|nan|n\/a|na|nothing|empty|unset|void|true|false|-*)$/i;

/** One text where a list is wanted is one item if it cannot be a list of several, or the word for none. */
const isOneItem = (text: string): boolean => !separators.test(text) && !noValue.test(text);

function listIn(items: JsonSchema, text: string): unknown {
  const read = parsed(text);
  if (Array.isArray(read)) return read;
  if (isRecord(read))
    return optionsOf(items).some(({ properties }) => properties !== undefined) ? [read] : undefined;
  const several = text.split(',').map((part) => part.trim());
  // Ids and keys have no comma.
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

/** The address of a pull or merge request, for a parameter that takes its number and address. */
function pullRequestAt({ properties = {} }: JsonSchema, text: string): Answer | undefined {
  const number = /^https?:\/\/\S+$/i.test(text) ? pullAddressOf(text)?.number : undefined;
  if (number === undefined || !('number' in properties) || !('url' in properties)) return undefined;
  return { number, url: text };
}

/** What the text stands for under one of the options, or undefined. */
function readAs(schema: JsonSchema, given: string): unknown {
  const { type, items, enum: values } = schema;
  const text = given.trim();
  if (isNumber(schema)) return decimal.test(text) ? Number(text) : undefined;
  if (type === 'boolean') return { true: true, false: false }[text.toLowerCase()];
  if (Array.isArray(values)) return valueNamed(text, values);
  if (type === 'array') return listIn((items ?? {}) as JsonSchema, text);
  if (type === 'object' || isOpen(schema)) {
    const object = parsed(text);
    return isRecord(object) ? object : pullRequestAt(schema, text);
  }
  return undefined;
}

function meantText(options: readonly JsonSchema[], value: string): unknown {
  if (options.some(({ enum: values }) => Array.isArray(values) && values.includes(value))) return value;
  const text = options.find(takesText);
  if (text !== undefined) return textMeant(text, value);
  for (const option of options) {
    const read = readAs(option, value);
    if (read !== undefined) return meant(option, read);
  }
  return value;
}

/** One alone where a list is wanted, and a whole number where text is. */
function meantAlone(options: readonly JsonSchema[], value: unknown): unknown {
  const list = options.find(({ type }) => type === 'array');
  if (list !== undefined) {
    const items = (list['items'] ?? {}) as JsonSchema;
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
  // A longer one has lost digits, and one with a fraction may have lost zeros.
  const isText = Number.isSafeInteger(value) && options.every(takesText);
  return isText ? String(value) : value;
}

function meantList(options: readonly JsonSchema[], value: readonly unknown[]): unknown {
  const list = options.find(({ type }) => type === 'array');
  if (list !== undefined) {
    const items = list['items'] as JsonSchema | undefined;
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

function meant(schema: JsonSchema, value: unknown): unknown {
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

/** JSON's word for nothing, as text where neither a text nor a list could hold it. */
const isNullAsText = (schema: JsonSchema, value: unknown): boolean =>
  typeof value === 'string' &&
  value.trim() === 'null' &&
  optionsOf(schema).every(
    (option) => isNumber(option) || option.type === 'boolean' || option.type === 'object',
  );

/** Parameters whose value may be lowered to the maximum: the answer comes earlier, or goes on by its cursor. */
const clamped: ReadonlySet<string> = new Set(['waitSeconds', 'limit']);

function clampedTo(schema: JsonSchema, name: string, value: unknown): unknown {
  const { maximum } = schema;
  const isTooLarge = typeof value === 'number' && typeof maximum === 'number' && value > maximum;
  return clamped.has(name) && isTooLarge ? maximum : value;
}

/** Names of paths without blanks, separated by commas: one path is hardly called so. */
const pathsIn = (name: string, value: unknown): unknown =>
  name === 'filesTouched' && typeof value === 'string' && /^[^\s,[\]"]+(, *[^\s,[\]"]+)+$/.test(value)
    ? value.split(/, */)
    : value;

/** Made by the product, and sent back as they are. */
const opaque: ReadonlySet<string> = new Set(['leaseToken', 'cursor', 'part']);

function fieldsMeant({ properties = {}, required = [] }: JsonSchema, value: Answer): Answer {
  return Object.fromEntries(
    Object.entries(value).flatMap(([given, field]) => {
      const name = nameMeant(given, properties, value);
      const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (schema === undefined) return [[name, field]];
      // Where null is one of the values that are needed, it can mean nothing else.
      if (field === null || isNullAsText(schema, field)) return required.includes(name) ? [[name, null]] : [];
      if (opaque.has(name) && typeof field === 'string') return [[name, field.trim()]];
      return [[name, clampedTo(schema, name, meant(schema, pathsIn(name, field)))]];
    }),
  );
}

/** Parts of a request whose nulls are values of their own. */
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

/** The message without nulls in `params` and `_meta`, which some clients send for everything that they leave out. */
export function withoutNulls(message: unknown): unknown {
  if (!isRecord(message) || !('params' in message)) return message;
  const { params, ...others } = message;
  return params === null ? others : { ...others, params: withoutNullsIn(params) };
}

/** A call with its arguments as an object: none where there is null, and those that came as JSON text. */
export function withArguments<
  Message extends { readonly method: string; readonly params?: Answer | undefined },
>(message: Message): Message {
  const { method, params } = message;
  if (method !== 'tools/call' || params === undefined) return message;
  const { arguments: args, ...others } = params;
  if (args === null) return { ...message, params: others };
  const read = typeof args === 'string' ? readAs({ type: 'object' }, args) : undefined;
  return read === undefined ? message : { ...message, params: { ...others, arguments: read } };
}

/** The arguments as they are meant under the schema that the contract states. */
export const asMeant = (schema: ObjectSchema, args: Answer): Answer => fieldsMeant(schema, args);

const wrong = (path: string, message: string): Error =>
  badRequest('The parameters do not fit.', [{ path, message }]);

function cleared(args: Answer, path: string): Answer {
  const [name = '', field] = path.split('.');
  const value = args[name];
  const isGiven = field === undefined ? name in args : isRecord(value) && field in value;
  if (isGiven) throw wrong(clearParam, `${path} is both given and cleared`);
  if (field === undefined) return { ...args, [name]: null };
  return { ...args, [name]: { ...(isRecord(value) ? value : {}), [field]: null } };
}

/** The same with null for what is named to be cleared. */
export function withCleared(clears: readonly string[], args: Answer): Answer {
  const { [clearParam]: given, ...others } = args;
  if (clears.length === 0) return args;
  if (given === undefined || given === null) return others;
  const list = { type: 'array', items: { type: 'string', enum: clears } } as const;
  const paths = meant(list, given);
  if (!Array.isArray(paths) || paths.some((path) => !clears.includes(path as string)))
    throw wrong(clearParam, `must be a list of: ${clears.join(', ')}`);
  return (paths as string[]).reduce(cleared, others);
}
