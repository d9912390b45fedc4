/**
 * Arguments as a model means them. Some send JSON text for a list or an object, a number as text, or null for every
 * parameter that they leave alone, because their client declares all of them required. Where that has one meaning it is
 * taken; everything else stays as it came, and the API says what is wrong with it.
 */
import { badRequest } from '@muster/registry';
import { type Answer } from './answers.ts';
import { clearParam, isOpen, type JsonSchema, type ObjectSchema, withoutNull } from './schemas.ts';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const optionsOf = (schema: JsonSchema): readonly JsonSchema[] => {
  const { anyOf, ...only } = withoutNull(schema);
  return Array.isArray(anyOf) ? (anyOf as JsonSchema[]) : [only];
};

const takesText = ({ type, enum: values }: JsonSchema, text: string): boolean =>
  type === 'string' && (!Array.isArray(values) || values.includes(text));

/** Ids, keys and names from a list: text that is never a list of several. */
const isName = ({ enum: values, format, 'x-muster-ref': ref }: JsonSchema): boolean =>
  Array.isArray(values) || format === 'uuid' || ref !== undefined;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const decimal = /^-?\d{1,15}(\.\d{1,15})?$/;

/** What the text stands for under one of the options, or undefined. */
function readAs(schema: JsonSchema, text: string): unknown {
  const { type, items } = schema;
  if (type === 'integer' || type === 'number') return decimal.test(text) ? Number(text) : undefined;
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  if (type === 'array') {
    const list = parsed(text);
    if (Array.isArray(list)) return list;
    const item = (items ?? {}) as JsonSchema;
    return isName(item) && takesText(item, text) && !/[\s,[\]]/.test(text) ? [text] : undefined;
  }
  if (type === 'object' || isOpen(schema)) {
    const object = parsed(text);
    return isRecord(object) ? object : undefined;
  }
  return undefined;
}

function meant(schema: JsonSchema, value: unknown): unknown {
  const options = optionsOf(schema);
  if (typeof value === 'string') {
    if (options.some((option) => takesText(option, value))) return value;
    for (const option of options) {
      const read = readAs(option, value);
      if (read !== undefined) return meant(option, read);
    }
    return value;
  }
  if (Array.isArray(value)) {
    const list = options.find(({ type }) => type === 'array');
    const items = list?.['items'] as JsonSchema | undefined;
    return items === undefined ? value : value.map((item: unknown) => meant(items, item));
  }
  if (!isRecord(value)) return value;
  const object = options.find(({ properties }) => properties !== undefined);
  return object === undefined ? value : fieldsMeant(object, value);
}

function fieldsMeant({ properties = {}, required = [] }: JsonSchema, value: Answer): Answer {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => {
      const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (schema === undefined) return [[name, field]];
      // Where null is one of the values that are needed, it can mean nothing else.
      if (field === null) return required.includes(name) ? [[name, null]] : [];
      return [[name, meant(schema, field)]];
    }),
  );
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
