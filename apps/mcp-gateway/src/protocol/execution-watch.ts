/** News of an execution for those who listen: by calls that wait, since not all of its events are activity. */
import { createClient, MusterError, NoAnswer, type Transport } from '@muster/client';
import { ApiError } from '@muster/registry';
import { setTimeout as pause } from 'node:timers/promises';
import { isUnauthorized } from '../answers/failures.ts';
import { eventsUri, variableIn } from './uris.ts';

/** Each is a call that waits, of the few that a token may have. */
export const mostExecutions = 4;
/** As long as the contract lets a call wait. */
const waitSeconds = 25;
const againMillis = 2_000;

export const executionIn = (uri: string): string | undefined => variableIn(eventsUri, uri);

/** Tells of each piece of news, until the execution is gone or the signal ends it; throws once the token is refused. */
export type Watch = (tell: (uri: string) => Promise<void>) => Promise<void>;

/** What passes by itself: the API is away, or too many calls wait. */
const passes = (failure: unknown): boolean =>
  failure instanceof NoAnswer ||
  (failure instanceof MusterError && (failure.status === 429 || failure.status >= 500)) ||
  (failure instanceof ApiError && failure.status === 429);

/**
 * Watches from where the execution stands now. Undefined where there is none that the caller may see: that there is none,
 * and that it is hidden, look alike to the client.
 */
export async function watchExecution(
  uri: string,
  calls: Transport,
  signal: AbortSignal,
): Promise<Watch | undefined> {
  const executionId = executionIn(uri) ?? '';
  const { get, eventsSince } = createClient(calls).deliveryExecutions;
  const found = await get({ executionId }).catch((failure: unknown) => {
    if (isUnauthorized(failure) || passes(failure)) throw failure;
    return undefined;
  });
  if (found === undefined) return undefined;
  let afterSeq = found.execution.lastEventSeq;
  const isOver = (): boolean => signal.aborted;
  return async (tell) => {
    while (!isOver()) {
      try {
        const { items, lastSeq } = await eventsSince({ executionId, afterSeq, waitSeconds });
        afterSeq = lastSeq;
        if (items.length > 0) await tell(uri);
      } catch (failure) {
        if (isOver()) return;
        if (isUnauthorized(failure)) throw failure;
        if (!passes(failure)) return;
        await pause(againMillis, undefined, { signal }).catch(() => undefined);
      }
    }
  };
}
