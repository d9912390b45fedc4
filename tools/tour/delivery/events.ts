import { type ExecutionEvent } from '@muster/registry';
import { type Teammate } from '../team.ts';
import { type EventsFollower } from './work.ts';

/** All events of an execution from its beginning, by pages. */
export async function allEvents({ api }: Teammate, executionId: string): Promise<ExecutionEvent[]> {
  const events: ExecutionEvent[] = [];
  for (let afterSeq = 0; ;) {
    const { items, lastSeq } = await api.deliveryExecutions.eventsSince({ executionId, afterSeq, limit: 7 });
    if (items.length === 0) return events;
    events.push(...items);
    afterSeq = lastSeq;
  }
}

/** Waits for the events of an execution and goes on from each answer, as a client that shows them does. */
export function followEvents({ api }: Teammate, executionId: string): EventsFollower {
  const seen: number[] = [];
  const over = new AbortController();
  const look = async (waitSeconds: number): Promise<boolean> => {
    const afterSeq = seen.at(-1) ?? 0;
    const { items } = await api.deliveryExecutions.eventsSince({ executionId, afterSeq, waitSeconds });
    seen.push(...items.map(({ seq }) => seq));
    return items.length > 0;
  };
  const running = (async () => {
    while (!over.signal.aborted) await look(2);
  })();
  // Its failure is met at the end, where it is waited for.
  running.catch(() => undefined);
  return {
    executionId,
    finish: async () => {
      over.abort();
      await running;
      while (await look(0));
      return seen;
    },
  };
}
