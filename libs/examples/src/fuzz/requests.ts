/**
 * Generates requests for any operation from the schema of its parameters, and checks rules that hold for any
 * answer.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Operation } from '@muster/contract';
import fc, { type Arbitrary } from 'fast-check';
import { z } from 'zod';
import corpus from './corpus.json' with { type: 'json' };
import {
  exampleVariants,
  hugeNumberPlaceholder,
  type FuzzSchema,
  type KnownValues,
  objectValues,
} from './values.ts';

/** A generated request. */
export interface FuzzCall {
  readonly operation: string;
  /** The parameters as JSON text, because a JavaScript value cannot represent some of them. */
  readonly params: string;
}

/** Requests that once got a wrong answer. They are sent again before any others. */
export const knownFailures: readonly FuzzCall[] = corpus;

const schemas = new Map<string, FuzzSchema>();

function schemaOf(operation: Operation): FuzzSchema {
  const known = schemas.get(operation.name);
  if (known !== undefined) return known;
  const schema = z.toJSONSchema(operation.params, { io: 'input', unrepresentable: 'any' }) as FuzzSchema;
  schemas.set(operation.name, schema);
  return schema;
}

const toWireJson = (params: unknown): string =>
  JSON.stringify(params).replaceAll(`"${hugeNumberPlaceholder}"`, '1e999');

/**
 * Generates requests for the operation: based on its example, based on its schema alone, and with arbitrary
 * JSON.
 */
export function requestsFor(operation: Operation, known: KnownValues): Arbitrary<FuzzCall> {
  const schema = schemaOf(operation);
  return fc
    .oneof(
      { weight: 6, arbitrary: exampleVariants(operation.example, schema, known) },
      { weight: 5, arbitrary: objectValues(schema, known) },
      { weight: 1, arbitrary: fc.jsonValue() },
    )
    .map((params) => ({ operation: operation.name, params: toWireJson(params) }));
}

const leakPattern = /\bat .*\.(ts|js):\d+|select .* from |insert into|\bpg_|node_modules/i;

const RefusalObject = z.object({
  code: z.string(),
  message: z.string(),
  status: z.int(),
  requestId: z.string(),
});

type Operations = ReadonlyMap<string, Operation>;

/** Returns the problem of an answer over HTTP, or undefined if there is none. */
export function findHttpFault(
  operations: Operations,
  { operation: name }: FuzzCall,
  status: number,
  body: unknown,
): string | undefined {
  if (status >= 500 || status < 200) return `was answered ${status}`;
  if (status === 200) return findUndeclaredFields(operations.get(name), body);
  const refused = RefusalObject.safeParse(body);
  if (!refused.success || refused.data.status !== status)
    return `was refused with ${status} and no error object`;
  return leakPattern.test(JSON.stringify(body)) ? 'was told of our inside' : undefined;
}

/** Parsing removes undeclared fields, so the comparison finds them. */
function findUndeclaredFields(operation: Operation | undefined, body: unknown): string | undefined {
  const parsed = operation?.result.safeParse(body);
  if (parsed === undefined) return undefined;
  if (!parsed.success)
    return `has a result that its contract does not know: ${parsed.error.message.slice(0, 200)}`;
  return isDeepStrictEqual(parsed.data, body) ? undefined : 'has more in its result than its contract says';
}

const McpToolResult = z.object({
  isError: z.boolean().optional(),
  structuredContent: z.record(z.string(), z.unknown()),
});
const RpcResponse = z.object({
  result: McpToolResult.optional(),
  error: z.object({ code: z.int() }).optional(),
});
const internalError = -32_603;

/** Returns the problem of an answer through MCP, or undefined if there is none. */
export function findMcpFault(
  operations: Operations,
  sent: FuzzCall,
  status: number,
  body: unknown,
): string | undefined {
  // HTTP rejects a body that is not JSON.
  if (status !== 200) return status >= 500 || status < 400 ? `was answered ${status}` : undefined;
  const { success, data } = RpcResponse.safeParse(body);
  if (!success) return 'was answered as no call of a tool is';
  if (data.error !== undefined) return data.error.code === internalError ? 'failed inside' : undefined;
  const { isError = false, structuredContent = {} } = data.result ?? {};
  if (isError) {
    const refused = RefusalObject.safeParse(structuredContent['error']);
    return refused.success
      ? findHttpFault(operations, sent, refused.data.status, refused.data)
      : 'has an error that is none';
  }
  // A shortened answer names the fields that were cut, and does not have to match the whole contract.
  return 'cut' in structuredContent
    ? undefined
    : findUndeclaredFields(operations.get(sent.operation), structuredContent);
}

const maxKnownValues = 500;
const idPattern = /"([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})"/g;
const cursorPattern = /"nextCursor":"([^"]+)"/g;

/** Stores the ids and cursors of an answer for later requests. */
export function collectKnownValues(known: KnownValues, text: string): void {
  for (const [kept, pattern] of [
    [known.ids, idPattern],
    [known.cursors, cursorPattern],
  ] as const) {
    for (const [, value = ''] of text.matchAll(pattern)) if (!kept.includes(value)) kept.push(value);
    kept.splice(0, Math.max(kept.length - maxKnownValues, 0));
  }
}
