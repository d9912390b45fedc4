/**
 * Generates values for a JSON Schema: valid ones, almost valid ones, and ones that an attacker would send.
 */
import fc, { type Arbitrary } from 'fast-check';

export interface FuzzSchema {
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, FuzzSchema>>;
  readonly required?: readonly string[];
  readonly items?: FuzzSchema;
  readonly anyOf?: readonly FuzzSchema[];
  readonly oneOf?: readonly FuzzSchema[];
  readonly allOf?: readonly FuzzSchema[];
  readonly 'x-muster-ref'?: 'story' | 'project' | 'member' | 'agent' | 'actor';
}

/** The known ids and cursors. Answers add more of them. */
export interface KnownValues {
  /** Ids of records of every kind. */
  readonly ids: string[];
  /** The values of nextCursor in lists. */
  readonly cursors: string[];
}

export const unknownId = '01936d5c-ffff-7000-8000-00000000ffff';

const personNames = ['ana', '@ben', 'robo', '@Chloe', '@nobody', '@', '-'];
const storyKeys = [
  'WEB-1',
  'web-2',
  'DOCS-1',
  'WEB-0',
  'WEB-999999999',
  'WEB-9999999999',
  'NONE-1',
  'WEB--1',
];
const projectKeys = ['WEB', 'docs', 'NONE', 'WEB-1', 'W', '__proto__'];
const sampleTimes = [
  ...['2026-11-22T12:00:00Z', '1970-01-01T00:00:00.000Z', '2199-12-31T23:59:59.999999999Z'],
  ...['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '2026-02-30T00:00:00Z'],
  ...['2026-11-22T24:00:00Z', '2026-11-22T12:00:00+99:99', '-000001-01-01T00:00:00Z', 'infinity', 'now'],
];
const sampleDays = ['2026-11-22', '0000-01-01', '9999-12-31', '2026-02-30', '2026-11-22T00:00:00Z'];
const sampleTexts = [
  ...['', ' ', '\u0000', 'a\u0000b', '\ud800', '\udc00\ud800', '\u202e', '%', '_', '\\', "'", '"', '../..'],
  ...['${7*7}'],
  ...['<script>', 'NaN', 'infinity', '__proto__', 'constructor', '@ana', '{{x}}', '**', '[', '*'.repeat(200)],
];

const nestedValue = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

/** A placeholder for a number that JSON can express and a program cannot hold. */
export const hugeNumberPlaceholder = 'a number beyond all numbers';

const hostileValues: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    [],
    {},
    [[]],
    [null],
    { a: 1 },
    { toString: 1 },
    hugeNumberPlaceholder,
  ),
  fc.constantFrom<unknown>(0, -1, 1.5, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 63), 1e308, 5e-324),
  fc.constantFrom<unknown>(...sampleTexts, ...sampleTimes, ...sampleDays, ...storyKeys, unknownId),
  fc.constantFrom(5, 28, 33, 500).map(nestedValue),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(300, 3_000, 70_000).map((length) => 'é'.repeat(length)),
);

const encodeCursor = (parts: unknown): string => Buffer.from(JSON.stringify(parts)).toString('base64url');

function decodeCursor(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parts) ? (parts as unknown[]) : [];
  } catch {
    return [];
  }
}

/** Changes one letter of an encrypted cursor, whose parts cannot be read. */
const corruptCursor = (cursor: string, index: number): string =>
  cursor
    .split('')
    .with(index % cursor.length, cursor.at(index % cursor.length) === 'A' ? 'B' : 'A')
    .join('');

/** Generates cursors: known cursors, known cursors with one changed part, and made-up cursors. */
function cursorValues({ cursors: given, ids }: KnownValues): Arbitrary<string> {
  const part = fc.oneof(
    hostileValues,
    fc.constantFrom<unknown>(...sampleTimes, ...sampleDays),
    fc.constantFrom<unknown>(unknownId, ...ids.slice(-20), 'x', 1e9, '1', '-1', '99999999999999999999'),
  );
  const made = fc.array(part, { maxLength: 4 }).map(encodeCursor);
  const raw = fc.constantFrom('', 'bm9wZQ', 'W10', 'bnVsbA', '=', '%', 'e30', 'x'.repeat(1_024));
  if (given.length === 0) return fc.oneof(made, raw);
  const altered = fc.tuple(fc.constantFrom(...given), fc.nat(9), part).map(([cursor, at, other]) => {
    const parts = decodeCursor(cursor);
    return parts.length === 0
      ? corruptCursor(cursor, at)
      : encodeCursor(parts.with(at % parts.length, other));
  });
  return fc.oneof(
    { weight: 4, arbitrary: altered },
    { weight: 2, arbitrary: made },
    { weight: 1, arbitrary: fc.oneof(raw, fc.constantFrom(...given)) },
  );
}

/**
 * fast-check does not support lookaheads and lookbehinds. They are removed, so some texts do not match the
 * pattern.
 */
const textsMatching = (pattern: string): Arbitrary<string> =>
  fc.stringMatching(new RegExp(pattern.replaceAll(/\(\?<?[=!][^()]*\)/g, '')));

function textValues(schema: FuzzSchema, name: string, known: KnownValues): Arbitrary<unknown> {
  const ids = fc.constantFrom(unknownId, ...known.ids);
  if (name === 'cursor') return cursorValues(known);
  if (schema['x-muster-ref'] === 'story') return fc.oneof(ids, fc.constantFrom(...storyKeys));
  if (schema['x-muster-ref'] === 'project') return fc.oneof(ids, fc.constantFrom(...projectKeys));
  if (schema['x-muster-ref'] !== undefined) return fc.oneof(ids, fc.constantFrom(...personNames));
  switch (schema.format) {
    case 'uuid':
      return fc.oneof(ids, fc.uuid());
    case 'date-time':
      return fc.constantFrom(...sampleTimes);
    case 'date':
      return fc.constantFrom(...sampleDays);
    case 'uri':
      return fc.constantFrom('https://example.com/a', 'http://[::1]', 'javascript:1', 'https://\ud800');
    default:
  }
  const [least, most] = [schema.minLength ?? 0, Math.min(schema.maxLength ?? 60, 400)];
  const edge = fc.constantFrom(least, most, most + 1).map((length) => 'a'.repeat(length));
  const free = fc.string({ unit: 'grapheme', minLength: Math.min(least, most), maxLength: most });
  const fitting = schema.pattern === undefined ? [] : [textsMatching(schema.pattern)];
  return fc.oneof(free, edge, fc.constantFrom(...sampleTexts), ...fitting);
}

function numberValues({ type, minimum, maximum }: FuzzSchema): Arbitrary<unknown> {
  const [least, most] = [Math.max(minimum ?? 0, -(2 ** 31)), Math.min(maximum ?? 2 ** 31 - 1, 2 ** 53 - 1)];
  const edges = fc.constantFrom<unknown>(least, most, least - 1, most + 1, hugeNumberPlaceholder);
  return fc.oneof(
    fc.integer({ min: least, max: Math.max(least, Math.min(most, 2 ** 31)) }),
    edges,
    fc.constant(type === 'integer' ? 1.5 : 0),
  );
}

/** Generates mostly valid values, and sometimes any value. */
export function schemaValues(schema: FuzzSchema, known: KnownValues, name = ''): Arbitrary<unknown> {
  return fc.oneof(
    { weight: 8, arbitrary: validValues(schema, known, name) },
    { weight: 1, arbitrary: hostileValues },
  );
}

function validValues(schema: FuzzSchema, known: KnownValues, name: string): Arbitrary<unknown> {
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return fc.oneof(...options.map((option) => schemaValues(option, known, name)));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'string':
      return textValues(schema, name, known);
    case 'integer':
    case 'number':
      return numberValues(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      const minLength = Math.min(schema.minItems ?? 0, 3);
      const items = schemaValues(schema.items ?? {}, known, name);
      return fc.array(items, {
        minLength,
        maxLength: Math.max(minLength, Math.min(schema.maxItems ?? 3, 3)),
      });
    }
    case 'object':
      return objectValues(schema, known);
    default:
      return fc.jsonValue();
  }
}

export function objectValues(
  { properties, required }: FuzzSchema,
  known: KnownValues,
): Arbitrary<Record<string, unknown>> {
  if (properties === undefined)
    return fc.dictionary(fc.oneof(fc.string(), fc.constantFrom(...sampleTexts)), hostileValues, {
      maxKeys: 3,
    });
  const fields = Object.fromEntries(
    Object.entries(properties).map(([key, schema]) => [key, schemaValues(schema, known, key)]),
  );
  return fc.record(fields, { requiredKeys: Object.keys(fields).filter((key) => required?.includes(key)) });
}

/** Generates the example with one of its fields replaced. */
export function exampleVariants(
  example: object,
  { properties }: FuzzSchema,
  known: KnownValues,
): Arbitrary<Record<string, unknown>> {
  const keys = Object.keys(properties ?? {});
  if (keys.length === 0) return fc.constant({ ...example });
  const field = fc.constantFrom(...keys).chain((key) => {
    const schema = properties?.[key] ?? {};
    return fc.oneof(schemaValues(schema, known, key), hostileValues).map((value) => [key, value] as const);
  });
  return fc
    .array(field, { minLength: 1, maxLength: 2 })
    .map((changed) => ({ ...example, ...Object.fromEntries(changed) }));
}
