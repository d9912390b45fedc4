/**
 * Waiting for an execution's stream to go on, without a connection for each who waits: one statement for all of them
 * looks where the streams stand, as long as anybody waits at all.
 */
import { type Pool } from './pool.ts';

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
  /** Resolves when the stream is beyond the position, the time is over, or nobody may wait any more. */
  readonly wait: (position: StreamPosition, seconds: number) => Promise<void>;
  /** Lets everybody go, now and later. */
  readonly close: () => void;
}

export function createFollowers(pool: Pool): Followers {
  const waiting = new Set<Follower>();
  let timer: NodeJS.Timeout | null = null;
  let closed = false;

  const look = async (): Promise<void> => {
    const asked = [...waiting];
    const { rows } = await pool.query<{ execution_id: string; last_seq: number }>({
      name: 'stream_positions',
      text: 'select execution_id, last_seq from app.stream_positions($1, $2)',
      values: [
        asked.map(({ position }) => position.orgId),
        asked.map(({ position }) => position.executionId),
      ],
    });
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
    wait: (position, seconds) => {
      if (closed) return Promise.resolve();
      return new Promise((resolve) => {
        const follower: Follower = {
          position,
          wake: () => {
            clearTimeout(end);
            waiting.delete(follower);
            resolve();
          },
        };
        const end = setTimeout(follower.wake, seconds * 1000);
        waiting.add(follower);
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
