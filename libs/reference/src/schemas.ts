/**
 * The contract's schemas for an OpenAPI document. Records are under `components` and are referenced
 * elsewhere.
 */
import { Id, type Operation } from '@muster/contract';
import { meaningOfParameter } from '@muster/registry';
import { z } from 'zod';
import { personParamDescription } from './fields.ts';

export type JsonFields = Record<string, unknown>;

/** Returns the schema for an OpenAPI document. Adds the records that the schema references to `components`. */
export function toComponentSchema(
  components: JsonFields,
  schema: z.ZodType,
  io: 'input' | 'output',
): JsonFields {
  const {
    $defs,
    $schema: _dialect,
    ...json
  } = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' }) as JsonFields & {
    $defs?: JsonFields;
  };
  for (const [name, definition] of Object.entries($defs ?? {})) components[name] ??= rewriteRefs(definition);
  return rewriteRefs(json) as JsonFields;
}

/** Returns the schema of an operation's parameters, each with its meaning. */
export function toParamsSchema(components: JsonFields, operation: Operation): JsonFields {
  const withMeanings = (json: JsonFields, above: string): JsonFields => ({
    ...json,
    ...(json['items'] !== undefined && { items: withMeanings(json['items'] as JsonFields, above) }),
    ...(Array.isArray(json['anyOf']) && {
      anyOf: json['anyOf'].map((option: JsonFields) => withMeanings(option, above)),
    }),
    ...(Array.isArray(json['oneOf']) && {
      oneOf: json['oneOf'].map((option: JsonFields) => withMeanings(option, above)),
    }),
    ...(json['properties'] !== undefined && {
      properties: Object.fromEntries(
        Object.entries(json['properties'] as Record<string, JsonFields>).map(([name, property]) => {
          const path = above === '' ? name : `${above}.${name}`;
          return [name, withDescription(withMeanings(property, path), meaningOfParameter(operation, path))];
        }),
      ),
    }),
  });
  return withMeanings(toComponentSchema(components, operation.params, 'input'), '');
}

/** Adds a meaning to a schema. A specific description stays; the general description of ids is replaced. */
function withDescription(json: JsonFields, meaning: string | undefined): JsonFields {
  const form = personParamDescription(json);
  if (meaning !== undefined && form !== undefined) return { ...json, description: `${meaning}. ${form}` };
  return meaning === undefined || ![undefined, Id.meta()?.description].includes(json['description'] as string)
    ? json
    : { ...json, description: meaning };
}

function rewriteRefs(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(rewriteRefs);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(withProperties(node as JsonFields))
      .filter(([key]) => key !== 'id' || typeof (node as JsonFields)['id'] !== 'string')
      .map(([key, value]) => [
        key,
        key === '$ref' && typeof value === 'string'
          ? value.replace('#/$defs/', '#/components/schemas/')
          : rewriteRefs(value),
      ]),
  );
}

/**
 * Lists each property of a record whose keys are fixed, such as a number for each status. Without this, the
 * schema would use `propertyNames`, which few programs support.
 */
function withProperties(json: JsonFields): JsonFields {
  const { propertyNames, additionalProperties, required, ...others } = json;
  if (propertyNames === undefined || !Array.isArray(required)) return json;
  const properties = Object.fromEntries(required.map((name: string) => [name, additionalProperties]));
  return { ...others, properties, required, additionalProperties: false };
}
