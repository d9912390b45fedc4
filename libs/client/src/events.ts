/** What happens, as it happens: the events of an execution, and those of the organization. */
import { type Event, type ExecutionEvent, type InputOf, type Registry } from '@muster/registry';
import { type Client } from './client.ts';

export interface FollowOptions {
  /** Goes on after this one; from the beginning unless told. Keep the last `seq` that you dealt with. */
  readonly afterSeq?: number;
  /** Ends the iteration, at the latest when the call on its way has been answered. */
  readonly signal?: AbortSignal;
}

/** As long as the API lets a call wait. */
const waitSeconds = 25;

/**
 * Every event once, in order, none left out; waits for those to come. Over a transport that tries again it goes on
 * through restarts of the server: what counts is the number of the last event, and no server remembers it.
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

type Wanted = InputOf<Registry['events']['list']>;

export interface FollowActivityOptions extends Pick<FollowOptions, 'signal'> {
  /** Goes on after this cursor; from now on unless told. Keep the `cursor` of the last event that you dealt with. */
  readonly after?: string;
  readonly projectId?: string;
  readonly kinds?: NonNullable<Wanted['kinds']>;
}

/**
 * Every event that the caller may see, once and in commit order; waits for those to come. Over a transport that tries
 * again it goes on through restarts of the server. Throws UnprocessableError with the reason `resync` where events that
 * come after the cursor are no longer kept.
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
