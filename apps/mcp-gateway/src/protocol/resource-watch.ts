/**
 * Watches an execution or the caller's inbox for subscribed clients. It uses long polls, because neither all
 * events of an execution nor the items of an inbox appear in the activity stream.
 */
import { type Client, createClient, MusterError, NoAnswer, type Transport } from '@muster/client';
import { ApiError } from '@muster/contract';
import { setTimeout as pause } from 'node:timers/promises';
import { isUnauthorized } from '../answers/failures.ts';
import { eventsUri, extractVariable, inboxUri } from './uris.ts';

/**
 * Limit of executions per subscription. Each watched resource uses one of the token's few concurrent long
 * polls.
 */
export const maxWatchedExecutions = 4;
/** The longest wait that the contract allows. */
const waitSeconds = 25;
const retryDelayMillis = 2_000;

export const executionIdOf = (uri: string): string | undefined => extractVariable(eventsUri, uri);

/** Returns true if changes of the resource are found by long polls, rather than in the activity stream. */
export const isPolledResource = (uri: string): boolean =>
  uri === inboxUri || executionIdOf(uri) !== undefined;

/** Reports each change until the resource is gone or the signal aborts. Throws when the token is rejected. */
export type ReportChanges = (tell: (uri: string) => Promise<void>) => Promise<void>;

/** Returns true for temporary failures: the API is unavailable, or too many calls are waiting. */
const isTemporaryFailure = (failure: unknown): boolean =>
  failure instanceof NoAnswer ||
  (failure instanceof MusterError && (failure.status === 429 || failure.status >= 500)) ||
  (failure instanceof ApiError && failure.status === 429);

/** Describes how a resource is polled. Positions are numbers that rise with each entry. */
interface PolledStream {
  /** Returns the position of the latest entry. */
  readonly findEnd: () => Promise<number>;
  /** Waits for entries after the position, and returns the position to continue from. */
  readonly waitAfter: (position: number) => Promise<number>;
}

const executionStream = (client: Client, executionId: string): PolledStream => ({
  findEnd: async () => (await client.deliveryExecutions.get({ executionId })).execution.lastEventSeq,
  waitAfter: async (afterSeq) =>
    (await client.deliveryExecutions.eventsSince({ executionId, afterSeq, waitSeconds })).lastSeq,
});

/** Returns the number of the last item in the inbox, with which a read beyond its end is answered. */
export const findInboxEnd = async ({ agents }: Client): Promise<number> =>
  (await agents.inbox({ after: 2 ** 31 - 1, limit: 1 })).cursor;

const inboxStream = (client: Client): PolledStream => ({
  findEnd: () => findInboxEnd(client),
  waitAfter: async (after) => (await client.agents.inbox({ after, waitSeconds })).cursor,
});

/**
 * Starts to watch from the latest entry. Returns undefined if the resource does not exist or the caller may
 * not see it; the client cannot tell these cases apart.
 */
export async function watchResource(
  uri: string,
  transport: Transport,
  signal: AbortSignal,
): Promise<ReportChanges | undefined> {
  const client = createClient(transport);
  const executionId = executionIdOf(uri);
  const stream = executionId === undefined ? inboxStream(client) : executionStream(client, executionId);
  const end = await stream.findEnd().catch((failure: unknown) => {
    if (isUnauthorized(failure) || isTemporaryFailure(failure)) throw failure;
    return undefined;
  });
  if (end === undefined) return undefined;
  const isOver = (): boolean => signal.aborted;
  return async (tell) => {
    let position = end;
    while (!isOver()) {
      try {
        const next = await stream.waitAfter(position);
        if (next > position) await tell(uri);
        position = next;
      } catch (failure) {
        if (isOver()) return;
        if (isUnauthorized(failure)) throw failure;
        if (!isTemporaryFailure(failure)) return;
        await pause(retryDelayMillis, undefined, { signal }).catch(() => undefined);
      }
    }
  };
}
