/**
 * Types of callers who wait for a stream to advance. The stream is an execution's stream, an inbox or an
 * organization's activity.
 */

/**
 * The maximum age of a cached placement, in milliseconds. After it, the stream of an organization that has
 * moved is followed on its new server.
 */
export const maxPlacementAgeMillis = 2_000;

/** The caller who waits. */
export interface WaitingCaller {
  readonly orgId: string;
  readonly memberId: string;
  readonly tokenId: string;
}

/** A position in the stream of an execution. */
export interface ExecutionPosition {
  readonly executionId: string;
  readonly afterSeq: number;
}

/** A position in the inbox of a member or an agent. The inbox exists only after its first item. */
export interface InboxPosition {
  readonly recipientId: string;
  readonly afterSeq: number;
}

/** A position in the log of a run, which also advances when the run ends. */
export interface RunLogPosition {
  /** The id of the run's row. The id that its client assigned is unique within a project only. */
  readonly runRowId: string;
  readonly afterLine: number;
}

export type SequencePosition = ExecutionPosition | InboxPosition | RunLogPosition;

/** A position in the activity of the waiter's organization, with the filters for project and kinds. */
export interface ActivityPosition {
  readonly activityAfter: number;
  readonly projectId: string | null;
  readonly kinds: readonly string[] | null;
}

export type StreamPosition = SequencePosition | ActivityPosition;

/** A caller who waits for a stream to advance beyond a position. */
export interface Follower<At extends StreamPosition> {
  readonly waiter: WaitingCaller;
  readonly position: At;
  /** Ends the wait because the stream has advanced. */
  readonly wake: () => void;
  /** Ends the wait although the stream has not advanced. */
  readonly end: () => void;
}

/** All callers who wait for streams of one kind. */
export interface WaitingFollowers<At extends StreamPosition> {
  readonly followers: ReadonlySet<Follower<At>>;
  /** Adds a follower. Returns the function that removes it. */
  readonly addFollower: (follower: Follower<At>) => () => void;
  /** Wakes the followers whose stream has advanced. */
  readonly poll: () => Promise<void>;
}
