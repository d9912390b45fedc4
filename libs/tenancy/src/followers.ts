/**
 * Waits for new stream entries without one connection per waiter. While any caller waits, one statement polls
 * the positions of all awaited streams.
 */
import { queryOutsideOrg, type Pool, sql } from '@muster/driver';
import { awaitAll, groupByNode } from '@muster/placement';
import { createActivityFollowers } from './activity-followers.ts';
import {
  type Follower,
  type InboxPosition,
  maxPlacementAgeMillis,
  type StreamPosition,
  type SequencePosition,
  type WaitingCaller,
  type WaitingFollowers,
} from './waiting.ts';

/**
 * The polling interval of the streams, in milliseconds. A waiting reader lags by at most this time, and by
 * about half of it on average.
 */
const pollIntervalMillis = 200;

/**
 * The time in seconds for which an agent that waits for its inbox counts as listening. It is longer than the
 * longest wait, so that an agent that waits again is listening without a gap.
 */
const listeningSeconds = 35;

export interface Followers {
  /**
   * Resolves to true when the stream has passed the position. Resolves to false when the time has run out,
   * the caller has disconnected, or `close` was called.
   */
  readonly wait: (
    waiter: WaitingCaller,
    position: StreamPosition,
    seconds: number,
    left?: AbortSignal,
  ) => Promise<boolean>;
  /**
   * Calls `changed` after the first poll, and after each poll that finds a change of the member's inbox or of
   * the rights in its organization. Returns the function that stops following.
   */
  readonly followInbox: (waiter: WaitingCaller, changed: () => void) => () => void;
  /** Releases all callers, now and in the future. */
  readonly close: () => void;
}

/** Follows streams on all servers. `failed` receives the error of each poll that got no answer. */
export function createFollowers(pool: Pool, onPollError: (error: unknown) => void): Followers {
  const ofStreams = createStreamFollowers(pool);
  const ofActivity = createActivityFollowers(pool);
  let timer: NodeJS.Timeout | null = null;
  let closed = false;

  const schedule = (): void => {
    const looks = [
      ...(ofStreams.followers.size > 0 ? [ofStreams] : []),
      ...(ofActivity.followers.size + ofActivity.inboxes.size > 0 ? [ofActivity] : []),
    ];
    if (closed || timer !== null || looks.length === 0) return;
    timer = setTimeout(() => {
      // After a failed poll the callers keep waiting until their own timeout.
      void Promise.all(looks.map(({ poll }) => poll().catch(onPollError))).finally(() => {
        timer = null;
        schedule();
      });
    }, pollIntervalMillis);
  };

  return {
    wait: (waiter, position, seconds, left) => {
      if (closed || left?.aborted === true) return Promise.resolve(false);
      return new Promise((resolve) => {
        const endWith = (hasAdvanced: boolean): void => {
          clearTimeout(timeout);
          leave();
          left?.removeEventListener('abort', end);
          if (left?.aborted === true) ofStreams.endListening(waiter.orgId, position).catch(onPollError);
          resolve(hasAdvanced);
        };
        const end = (): void => endWith(false);
        const wake = (): void => endWith(true);
        const timeout = setTimeout(end, seconds * 1000);
        left?.addEventListener('abort', end);
        const leave =
          'activityAfter' in position
            ? ofActivity.addFollower({ waiter, position, wake, end })
            : ofStreams.addFollower({ waiter, position, wake, end });
        schedule();
      });
    },
    followInbox: (waiter, changed) => {
      const leave = ofActivity.followInbox(waiter, changed);
      schedule();
      return leave;
    },
    close: () => {
      closed = true;
      for (const { end } of [...ofStreams.followers, ...ofActivity.followers]) end();
      if (timer !== null) clearTimeout(timer);
    },
  };
}

interface StreamFollowers extends WaitingFollowers<SequencePosition> {
  /** Records that an agent has disconnected, unless it still waits for its inbox with another call. */
  readonly endListening: (orgId: string, position: StreamPosition) => Promise<void>;
}

const isInboxPosition = (position: StreamPosition): position is InboxPosition => 'recipientId' in position;

function createStreamFollowers(pool: Pool): StreamFollowers {
  const waiting = new Set<Follower<SequencePosition>>();
  /** The followers that were recorded as listening. */
  const recorded = new WeakSet<Follower<SequencePosition>>();

  async function recordNewListeners(
    nodePool: Pool,
    followers: readonly Follower<SequencePosition>[],
  ): Promise<void> {
    const added = followers.filter(
      (follower) => isInboxPosition(follower.position) && !recorded.has(follower),
    );
    if (added.length === 0) return;
    for (const follower of added) recorded.add(follower);
    const listeners = added.map(({ waiter, position }) => ({ orgId: waiter.orgId, id: streamOf(position) }));
    await recordListeners(nodePool, listeners, listeningSeconds);
  }

  return {
    endListening: async (orgId, position) => {
      if (!isInboxPosition(position)) return;
      const { recipientId } = position;
      if ([...waiting].some((other) => streamOf(other.position) === recipientId)) return;
      const ending = [{ orgId, id: recipientId }];
      const servers = await groupByNode(pool, ending, (one) => one.orgId, maxPlacementAgeMillis);
      await awaitAll([...servers].map(([at, listeners]) => recordListeners(at, listeners, 0)));
    },
    followers: waiting,
    addFollower: (follower) => {
      waiting.add(follower);
      return () => {
        waiting.delete(follower);
      };
    },
    poll: async () => {
      const servers = await groupByNode(
        pool,
        [...waiting],
        ({ waiter }) => waiter.orgId,
        maxPlacementAgeMillis,
      );
      await awaitAll(
        [...servers].flatMap(([at, asked]) => [
          recordNewListeners(at, asked),
          wakeAdvancedFollowers(at, asked),
        ]),
      );
    },
  };
}

function streamOf(position: SequencePosition): string {
  if ('executionId' in position) return position.executionId;
  return 'runRowId' in position ? position.runRowId : position.recipientId;
}

interface Listener {
  readonly orgId: string;
  readonly id: string;
}

/** Records that agents listen for this time from now. Members are ignored. */
const recordListeners = (nodePool: Pool, listeners: readonly Listener[], seconds: number): Promise<unknown> =>
  queryOutsideOrg(
    nodePool,
    sql`select app.note_listeners(${listeners.map(({ orgId }) => orgId)}, ${listeners.map(({ id }) => id)}, ${seconds})`,
  );

async function wakeAdvancedFollowers(
  pool: Pool,
  followers: readonly Follower<SequencePosition>[],
): Promise<void> {
  // Each stream is looked up once, no matter how many callers wait for it.
  const orgOf = new Map(followers.map(({ waiter, position }) => [streamOf(position), waiter.orgId]));
  const rows = await queryOutsideOrg(
    pool,
    sql<{
      execution_id: string;
      last_seq: number;
    }>`select execution_id, last_seq from app.stream_positions(${[...orgOf.values()]}, ${[...orgOf.keys()]})`,
  );
  const positionsByStream = new Map(rows.map((row) => [row.execution_id, row.last_seq]));
  for (const { position, wake } of followers) {
    // A deleted execution or run also wakes its waiters.
    const ifMissing = 'recipientId' in position ? 0 : Infinity;
    const after = 'runRowId' in position ? position.afterLine : position.afterSeq;
    if ((positionsByStream.get(streamOf(position)) ?? ifMissing) > after) wake();
  }
}
