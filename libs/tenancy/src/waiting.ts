/** Callers who wait for a stream to go on, of either kind. */

/** A stream whose organization has moved is followed at its new server from then on. */
export const placesAgeMillis = 2_000;

/** The caller who waits. */
export interface Waiter {
  readonly orgId: string;
  readonly memberId: string;
  readonly tokenId: string;
}

/** A place in the stream of an execution. */
export interface ExecutionPosition {
  readonly executionId: string;
  readonly afterSeq: number;
}

/** A place in the activity of the waiter's organization, and what of it counts. */
export interface ActivityPosition {
  readonly activityAfter: number;
  readonly projectId: string | null;
  readonly kinds: readonly string[] | null;
}

export type Position = ExecutionPosition | ActivityPosition;

/** One caller who waits at a position. */
export interface Follower<At extends Position> {
  readonly waiter: Waiter;
  readonly position: At;
  readonly wake: () => void;
}

/** All who wait for streams of one kind. */
export interface Waiting<At extends Position> {
  readonly all: ReadonlySet<Follower<At>>;
  /** Answers how the follower leaves. */
  readonly enter: (follower: Follower<At>) => () => void;
  /** Wakes those whose stream went on. */
  readonly look: () => Promise<void>;
}
