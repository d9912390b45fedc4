/**
 * A summary of the contract for the surface test: everything that clients could notice of a change, and
 * nothing else.
 */
import { z } from 'zod';
import { groundsOf } from '@muster/contract';
import { operations } from './registry.ts';

/** The parts of a JSON Schema that the summary of the contract reads. */
export interface Schema {
  readonly [keyword: string]: unknown;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly additionalProperties?: boolean | Schema;
}

/** Converts a zod schema to JSON Schema. The result has all keywords, although the type Schema declares only some. */
export const jsonSchemaOf = (schema: z.ZodType, io: 'input' | 'output'): Schema =>
  z.toJSONSchema(schema, { io }) as Schema;

type SurfaceShape = string | { readonly [field: string]: SurfaceShape } | readonly SurfaceShape[];

/** The schema keywords that restrict a value, in the order in which a summary lists them. */
const boundKeywords = ['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems', 'default'];
/** Zod's default limits of an integer. */
const unboundedIntegers: readonly unknown[] = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];

function formatBounds(schema: Schema): string {
  const format = schema['format'] ?? schema['pattern'];
  const narrowing = boundKeywords
    .filter((bound) => bound in schema && !unboundedIntegers.includes(schema[bound]))
    .map((bound) => ` ${bound}=${JSON.stringify(schema[bound])}`);
  return (typeof format === 'string' ? ` ${format}` : '') + narrowing.join('');
}

/**
 * Summarizes a schema for comparison. An optional field has a question mark, and a named record is replaced
 * by its name.
 */
function summarizeSchema(schema: Schema): SurfaceShape {
  if (schema.$ref !== undefined) return schema.$ref.replace('#/$defs/', '');
  if (schema.anyOf !== undefined) return schema.anyOf.map(summarizeSchema);
  if (schema.enum !== undefined) return schema.enum.join(' | ') + formatBounds(schema);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.type === 'array')
    return { [`each${formatBounds(schema)}`]: summarizeSchema(schema.items ?? {}) };
  if (schema.properties !== undefined) {
    const required = new Set(schema.required);
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [
        required.has(name) ? name : `${name}?`,
        summarizeSchema(field),
      ]),
    );
  }
  if (typeof schema.additionalProperties === 'object')
    return { '*': summarizeSchema(schema.additionalProperties) };
  return (schema.type ?? 'any') + formatBounds(schema);
}

/**
 * Returns the text of surface.generated.json: records by name, and each operation with everything that
 * clients depend on.
 */
export function surfaceText(): string {
  const records: Record<string, SurfaceShape> = {};
  const shapeOf = (schema: z.ZodType, io: 'input' | 'output'): SurfaceShape => {
    const described = jsonSchemaOf(schema, io);
    for (const [name, record] of Object.entries(described.$defs ?? {}))
      records[name] = summarizeSchema(record);
    return summarizeSchema(described);
  };
  const statements = [...operations.values()].map(({ access, ...operation }): [string, unknown] => [
    operation.name,
    {
      effect: operation.effect,
      access: [...('role' in access ? [access.kind, access.role] : [access.kind]), ...groundsOf(access)].join(
        ':',
      ),
      ...(operation.effect === 'write' && operation.idempotent && { idempotent: true }),
      ...(operation.destructive && { destructive: true }),
      ...(operation.byMemberOnly && { byMemberOnly: true }),
      ...(operation.needsProof && { needsProof: true }),
      ...(operation.readsInbox && { readsInbox: true }),
      takesBoundTokens: operation.takesBoundTokens,
      scope: operation.scope,
      target: operation.target,
      surfaces: operation.surfaces.join(' '),
      bodyLimit: operation.bodyLimit,
      refusals: [...operation.refusals].sort(),
      emits: [...operation.emits].sort(),
      params: shapeOf(operation.params, 'input'),
      result: shapeOf(operation.result, 'output'),
    },
  ]);
  return `${JSON.stringify({ records, operations: Object.fromEntries(statements) }, null, 2)}\n`;
}
