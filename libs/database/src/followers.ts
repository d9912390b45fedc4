/**
 * Waiting for an execution's stream to go on, without a connection for each who waits: one statement for all of them
 * looks where the streams stand, as long as anybody waits at all.
 */
import { ask } from './ask.ts';
import { type Pool } from './pool.ts';
import { sql } from './sql.ts';

/** How often the streams are looked at: what a waiting reader is behind at most, and about half of it on average. */
const lookMillis = 200;

/** A place in the stream of an execution. */
export interface StreamPosition {
  readonly orgId: string;
  readonly executionId: string;
  readonly afterSeq: number;
}

interface Follower {
  readonly position: StreamPosition;
  readonly wake: () => void;
}

export interface Followers {
  /** Resolves when the stream is beyond the position, the time is over, who waits has left, or nobody may wait any more. */
  readonly wait: (position: StreamPosition, seconds: number, left?: AbortSignal) => Promise<void>;
  /** Lets everybody go, now and later. */
  readonly close: () => void;
}

export function createFollowers(pool: Pool): Followers {
  const waiting = new Set<Follower>();
  let timer: NodeJS.Timeout | null = null;
  let closed = false;

  const look = async (): Promise<void> => {
    const asked = [...waiting];
    // However many wait for an execution, it is looked at once.
    const orgOf = new Map(asked.map(({ position }) => [position.executionId, position.orgId]));
    const rows = await ask(
      pool,
      sql<{
        execution_id: string;
        last_seq: number;
      }>`select execution_id, last_seq from app.stream_positions(${[...orgOf.values()]}, ${[...orgOf.keys()]})`,
    );
    const stands = new Map(rows.map((row) => [row.execution_id, row.last_seq]));
    for (const { position, wake } of asked) {
      // One that is gone is news, too.
      if ((stands.get(position.executionId) ?? Infinity) > position.afterSeq) wake();
    }
  };

  const schedule = (): void => {
    if (timer !== null || waiting.size === 0) return;
    timer = setTimeout(() => {
      // Without an answer everybody waits on; their own time ends that.
      void look()
        .catch(() => undefined)
        .finally(() => {
          timer = null;
          schedule();
        });
    }, lookMillis);
  };

  return {
    wait: (position, seconds, left) => {
      if (closed || left?.aborted === true) return Promise.resolve();
      return new Promise((resolve) => {
        const follower: Follower = {
          position,
          wake: () => {
            clearTimeout(end);
            waiting.delete(follower);
            left?.removeEventListener('abort', follower.wake);
            resolve();
          },
        };
        const end = setTimeout(follower.wake, seconds * 1000);
        waiting.add(follower);
        left?.addEventListener('abort', follower.wake);
        schedule();
      });
    },
    close: () => {
      closed = true;
      for (const follower of [...waiting]) follower.wake();
      if (timer !== null) clearTimeout(timer);
    },
  };
}
