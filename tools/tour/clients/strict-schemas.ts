/** What OpenAI takes of a tool that is declared strict, and what its models then send. It refuses a whole request for one. */

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** https://platform.openai.com/docs/guides/structured-outputs names them. */
const formats: ReadonlySet<string> = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
]);
const refusedWords = ['allOf', 'not', 'oneOf', 'dependentRequired', 'dependentSchemas', 'if', 'then', 'else'];

/** Why a strict schema would be refused, by path; none where it is taken. */
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

/** A model that has to name every parameter sends null for each that it does not mean. */
export function filled(schema: unknown, args: Json): Record<string, unknown> {
  const { properties, required } = isObject(schema) ? schema : {};
  const unmeant = isObject(properties)
    ? Object.entries(properties)
        .filter(([name, one]) => Array.isArray(required) && required.includes(name) && takesNull(one))
        .map(([name]): [string, null] => [name, null])
    : [];
  return { ...Object.fromEntries(unmeant), ...args };
}
