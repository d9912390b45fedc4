/**
 * Simulates people who write continuously. Their client retries a write under its idempotency key until it
 * has an answer.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Client } from '@muster/client';

/** Ids of all accepted records, by table. */
export type WrittenIds = Readonly<Record<'stories' | 'comments' | 'executions', readonly string[]>>;

export interface ScaleWriter {
  /** Number of writes that were accepted so far. */
  readonly count: () => number;
  /** Stops the writer. Rejects if a write was refused with an error that is not retried. */
  readonly stop: () => Promise<WrittenIds & { readonly longestGapMillis: number }>;
}

/** Creates, comments on, acquires and renames stories. It waits for `restMillis` between two writes. */
export function startWriter(client: Client, projectId: string, restMillis: () => number): ScaleWriter {
  const written = { stories: [] as string[], comments: [] as string[], executions: [] as string[] };
  let [count, longestGapMillis, last, isOver] = [0, 0, performance.now(), false];
  const write = async <Answer>(call: Promise<Answer>): Promise<Answer> => {
    const answer = await call;
    longestGapMillis = Math.max(longestGapMillis, performance.now() - last);
    last = performance.now();
    count += 1;
    await pause(restMillis());
    return answer;
  };
  const run = async (): Promise<void> => {
    while (!isOver) {
      const { story } = await write(
        client.stories.create({ projectId, title: 'Written while the organization moves' }),
      );
      const { id: storyId } = story;
      written.stories.push(storyId);
      const { comment } = await write(client.comments.create({ storyId, body: 'Is it still there?' }));
      written.comments.push(comment.id);
      const { execution } = await write(
        client.deliveryExecutions.acquire({ targetType: 'story', targetId: storyId }),
      );
      written.executions.push(execution.id);
      await write(client.stories.update({ storyId, title: 'It is still there' }));
    }
  };
  const running = run();
  // A failure is reported by stop().
  running.catch(() => undefined);
  return {
    count: () => count,
    stop: async () => {
      isOver = true;
      await running;
      return { ...written, longestGapMillis };
    },
  };
}
