/**
 * Watches an execution for subscribed clients. It uses long polls, because not all events of an execution
 * appear in the activity stream.
 */
import { createClient, MusterError, NoAnswer, type Transport } from '@muster/client';
import { ApiError } from '@muster/registry';
import { setTimeout as pause } from 'node:timers/promises';
import { isUnauthorized } from '../answers/failures.ts';
import { eventsUri, extractVariable } from './uris.ts';

/** Limit per subscription. Each watched execution uses one of the token's few concurrent long polls. */
export const maxWatchedExecutions = 4;
/** The longest wait that the contract allows. */
const longPollSeconds = 25;
const retryDelayMillis = 2_000;

export const executionIdOf = (uri: string): string | undefined => extractVariable(eventsUri, uri);

/**
 * Reports each change until the execution is gone or the signal aborts. Throws when the token is rejected.
 */
export type ReportChanges = (tell: (uri: string) => Promise<void>) => Promise<void>;

/** Returns true for temporary failures: the API is unavailable, or too many calls are waiting. */
const isTemporaryFailure = (failure: unknown): boolean =>
  failure instanceof NoAnswer ||
  (failure instanceof MusterError && (failure.status === 429 || failure.status >= 500)) ||
  (failure instanceof ApiError && failure.status === 429);

/**
 * Starts to watch from the execution's latest event. Returns undefined if it does not exist or the caller may
 * not see it; the client cannot tell these cases apart.
 */
export async function watchExecution(
  uri: string,
  transport: Transport,
  signal: AbortSignal,
): Promise<ReportChanges | undefined> {
  const executionId = executionIdOf(uri) ?? '';
  const { get, eventsSince } = createClient(transport).deliveryExecutions;
  const found = await get({ executionId }).catch((failure: unknown) => {
    if (isUnauthorized(failure) || isTemporaryFailure(failure)) throw failure;
    return undefined;
  });
  if (found === undefined) return undefined;
  let afterSeq = found.execution.lastEventSeq;
  const isOver = (): boolean => signal.aborted;
  return async (tell) => {
    while (!isOver()) {
      try {
        const { items, lastSeq } = await eventsSince({ executionId, afterSeq, waitSeconds: longPollSeconds });
        afterSeq = lastSeq;
        if (items.length > 0) await tell(uri);
      } catch (failure) {
        if (isOver()) return;
        if (isUnauthorized(failure)) throw failure;
        if (!isTemporaryFailure(failure)) return;
        await pause(retryDelayMillis, undefined, { signal }).catch(() => undefined);
      }
    }
  };
}
