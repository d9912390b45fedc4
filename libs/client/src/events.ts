/** Follows the events of an execution, or of the organization, by long polling. */
import { type Event, type ExecutionEvent, type InputOf } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { type Client } from './client.ts';

export interface FollowOptions {
  /**
   * The sequence number after which events are read; 0, the beginning, by default. Store the `seq` of the
   * last event that you processed.
   */
  readonly afterSeq?: number;
  /** Ends the iteration when it is aborted, at the latest after the current call has been answered. */
  readonly signal?: AbortSignal;
}

/** The number of seconds that each call asks the API to wait for events. The API accepts no longer wait. */
const waitSeconds = 25;

/**
 * Yields every event of an execution exactly once, in order, and waits for new ones. With a transport that
 * retries, it continues through restarts of the server. Each call sends the number of the last event, so the
 * server stores no position.
 */
export async function* followEvents(
  client: Client,
  executionId: string,
  { afterSeq = 0, signal }: FollowOptions = {},
): AsyncGenerator<ExecutionEvent, void, undefined> {
  let lastSeq = afterSeq;
  const isOver = (): boolean => signal?.aborted === true;
  while (!isOver()) {
    const page = await client.deliveryExecutions.eventsSince({ executionId, afterSeq: lastSeq, waitSeconds });
    for (const event of page.items) {
      if (isOver()) return;
      yield event;
      lastSeq = event.seq;
    }
  }
}

type EventListParams = InputOf<Registry['events']['list']>;

export interface FollowActivityOptions extends Pick<FollowOptions, 'signal'> {
  /**
   * The cursor after which events are read; by default only new events are read. Store the `cursor` of the
   * last event that you processed.
   */
  readonly after?: string;
  readonly projectId?: string;
  readonly kinds?: NonNullable<EventListParams['kinds']>;
}

/**
 * Yields every event that the caller may see exactly once, in commit order, and waits for new ones. With a
 * transport that retries, it continues through restarts of the server. Throws UnprocessableError with the
 * reason `resync` if events after the cursor are no longer stored.
 */
export async function* followActivity(
  client: Client,
  { after = 'latest', signal, ...where }: FollowActivityOptions = {},
): AsyncGenerator<Event, void, undefined> {
  let place = after;
  const isOver = (): boolean => signal?.aborted === true;
  while (!isOver()) {
    const { items, cursor } = await client.events.list({ ...where, after: place, waitSeconds });
    for (const event of items) {
      if (isOver()) return;
      yield event;
    }
    place = cursor;
  }
}
