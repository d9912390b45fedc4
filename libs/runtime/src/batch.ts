/**
 * Executes an operation on several records as one call per record. A first call checks the caller and resolves the
 * names in the parameters. If the whole call has an Idempotency-Key, each of its calls has one that is derived from it,
 * so a repetition after a crash continues where the first one stopped. A last call stores the whole response.
 */
import { createHash } from 'node:crypto';
import { ApiError, type Operation } from '@muster/contract';
import { type Batch, type BatchOutcome, type Handler } from './handle.ts';
import { findStoredResponse, fingerprintOf } from './idempotency.ts';
import { type OperationCall } from './operation-call.ts';
import { parseParams } from './parse.ts';

interface OpenedBatch {
  /** The parameters, with ids in place of handles and slugs. */
  readonly params: Record<string, unknown>;
  /** The stored first response to the Idempotency-Key, if any. */
  readonly stored: string | null;
}

/** Codes of errors that refuse one record and say nothing about the others. */
const refusalCodes: readonly string[] = ['forbidden', 'not_found', 'conflict', 'unprocessable'];

const isRefusalOfRecord = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  refusalCodes.includes(error.code) &&
  !error.details.reason.startsWith('idempotency_');

/** Keys of callers consist of printable characters, so none of them equals a derived one. */
const itemKeyOf = (key: string, index: number): string =>
  `${createHash('sha256').update(key).digest('hex')}\n${index}`;

const openBatch = (operation: Operation, { idempotencyKey, params: sent }: OperationCall): Handler => ({
  operation: { ...operation, effect: 'read' },
  run: async ({ db, caller, params }) => {
    if (idempotencyKey === null) return { params, stored: null };
    const parsed = parseParams(operation, sent);
    const fingerprint = fingerprintOf(operation, parsed);
    const stored = await findStoredResponse(db, caller, operation, idempotencyKey, fingerprint, parsed);
    return { params, stored: stored ?? null };
  },
});

/** Stores the response with the call's key. If a concurrent repetition was faster, its response is returned. */
const closeBatch = (operation: Operation, response: Record<string, unknown>): Handler => ({
  operation,
  run: async ({ reportNoChange }) => {
    // The calls for the records have left the audit entries.
    reportNoChange();
    return response;
  },
});

/** Throws the first error that does not concern a single record. Records that were changed before stay changed. */
export async function executeBatch<Response extends { readonly json: string; readonly replayed: boolean }>(
  { operation }: Handler,
  { item, split, join }: Batch,
  call: OperationCall,
  execute: (handler: Handler, call: OperationCall) => Promise<Response>,
): Promise<Response> {
  let response = await execute(openBatch(operation, call), call);
  const { params, stored } = JSON.parse(response.json) as OpenedBatch;
  if (stored !== null) return { ...response, json: stored, replayed: true };

  const key = call.idempotencyKey;
  const outcomes: BatchOutcome[] = [];
  for (const [index, itemParams] of split(params).entries()) {
    const idempotencyKey = key === null ? null : itemKeyOf(key, index);
    try {
      response = await execute(item, { ...call, params: itemParams, idempotencyKey });
      outcomes.push({ result: JSON.parse(response.json) as Record<string, unknown> });
    } catch (error) {
      if (!isRefusalOfRecord(error)) throw error;
      outcomes.push({ refusal: error });
    }
  }
  const result = join(params, outcomes);
  if (key !== null) return execute(closeBatch(operation, result), call);
  return { ...response, json: JSON.stringify(result), replayed: false };
}
