/** The events of an execution as they happen. */
import { type ExecutionEvent } from '@muster/registry';
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
