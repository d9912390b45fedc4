/**
 * Rules of OpenAI for schemas of strict tools, and the arguments that its models then send. One invalid tool
 * makes OpenAI refuse the whole request.
 */

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The formats that https://platform.openai.com/docs/guides/structured-outputs lists. */
const formats: ReadonlySet<string> = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
]);
const refusedWords = ['allOf', 'not', 'oneOf', 'dependentRequired', 'dependentSchemas', 'if', 'then', 'else'];

/** Returns the reasons for which a strict schema would be refused, by path. Empty if it is accepted. */
export function refusalsOf(schema: unknown, path = '$'): string[] {
  if (Array.isArray(schema)) return schema.flatMap((one, at) => refusalsOf(one, `${path}[${at}]`));
  if (!isObject(schema)) return [];
  const { properties, format, required, additionalProperties, ...rest } = schema;
  const named = isObject(properties) ? properties : {};
  const isOfObjects = schema['type'] === 'object' || properties !== undefined;
  const wanted = Array.isArray(required) ? required : [];
  return [
    ...refusedWords.filter((word) => word in schema).map((word) => `${path}: ${word} is not permitted`),
    ...(typeof format !== 'string' || formats.has(format) ? [] : [`${path}: ${format} is no valid format`]),
    ...(isOfObjects && additionalProperties !== false ? [`${path}: additionalProperties must be false`] : []),
    ...Object.keys(named)
      .filter((name) => !wanted.includes(name))
      .map((name) => `${path}: required must have ${name}`),
    ...Object.entries(named).flatMap(([name, one]) => refusalsOf(one, `${path}.${name}`)),
    ...['items', 'anyOf', '$defs'].flatMap((word) => {
      const inner = rest[word];
      return word === '$defs' && isObject(inner)
        ? Object.entries(inner).flatMap(([name, one]) => refusalsOf(one, `${path}.$defs.${name}`))
        : refusalsOf(inner, `${path}.${word}`);
    }),
  ];
}

const takesNull = (schema: unknown): boolean =>
  isObject(schema) &&
  ([schema['type']].flat().includes('null') ||
    (Array.isArray(schema['anyOf']) && schema['anyOf'].some((one) => takesNull(one))));

/**
 * Returns the arguments with null for each required parameter that the model does not use, because a strict
 * tool requires every parameter.
 */
export function filled(schema: unknown, args: Json): Record<string, unknown> {
  const { properties, required } = isObject(schema) ? schema : {};
  const unmeant = isObject(properties)
    ? Object.entries(properties)
        .filter(([name, one]) => Array.isArray(required) && required.includes(name) && takesNull(one))
        .map(([name]): [string, null] => [name, null])
    : [];
  return { ...Object.fromEntries(unmeant), ...args };
}
