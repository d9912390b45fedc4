/**
 * The reasons of refusals that operations declare: the call is valid, but the state of the data or a rule
 * forbids it.
 */
import { type ErrorCode } from './errors.ts';

export interface ReasonText {
  /** The default message of the error. */
  readonly meaning: string;
  /** The action that the caller can take to resolve the error. */
  readonly remedy: string;
  readonly retryable?: true;
  /** A second error code that can have this reason. */
  readonly also?: ErrorCode;
}

/** The reasons of errors with status 409. */
export const conflict = {
  version_mismatch: {
    meaning: 'Another caller changed it since the version you named; read it again.',
    remedy: 'Read it again, redo the change on what it says now, and send details.currentVersion.',
  },
  already_exists: {
    meaning: 'One with that name, key or slug exists.',
    remedy: 'Use the one that exists, or choose another name, key or slug.',
  },
  already_resolved: {
    meaning: 'It was decided before.',
    remedy: 'Read what was decided, and go on from there; where details name retryAt, call again then.',
  },
  idempotency_in_flight: {
    meaning: 'The first call with this key is still running.',
    remedy: 'Wait a second, and send the same call with the same key.',
    retryable: true,
  },
  lease_held: {
    meaning: 'Another caller holds the lease; details say who, and until when.',
    remedy: 'Take other work, ask the holder, or come back after details.expiresAt.',
  },
  stale_lease: {
    meaning: 'The lease was granted anew or has ended; nothing was changed.',
    remedy: 'Stop this work, read where it stands, and acquire it anew before going on.',
  },
  in_active_group: {
    meaning: 'A story is in another delivery group that is open; details name it.',
    remedy: 'Leave the story out, or take it out of the other group first.',
  },
  lock_held: {
    meaning: 'Others hold locks that are in the way; details.conflicts says which.',
    remedy: 'Wait until they are released or expire, or lock less.',
    retryable: true,
  },
  stream_replaced: {
    meaning: 'A newer event stream of yours took the place of this one.',
    remedy: 'Close streams that you do not read, then open this one again.',
  },
  run_ended: {
    meaning: 'The run has ended; what goes on is another run, with an id of its own.',
    remedy: 'Begin another run, with an id of its own.',
  },
  reserved: {
    meaning: 'The work is offered to another member or agent for a few minutes.',
    remedy: 'Take other work, or come back when details.offer has ended.',
    retryable: true,
  },
  active_on_another_machine: {
    meaning: 'This license is active on another machine.',
    remedy: 'Release it there first, or ask the seller.',
  },
  slots_taken: {
    meaning: 'Other machines hold every slot of this license at the moment.',
    remedy: 'Come back later, or give it up on one of them.',
    retryable: true,
  },
  not_activated: { meaning: 'This license is not active on any machine.', remedy: 'Activate it first.' },
  order_mismatch: {
    meaning: 'This order was issued as something else.',
    remedy: 'Give another sale another orderRef; what was issued is listed by it.',
  },
  several_machines: {
    meaning: 'Several machines hold this license.',
    remedy: 'Say which one is meant, by its slot.',
  },
} as const satisfies Record<string, ReasonText>;

/** The reasons of errors with status 422. */
export const unprocessable = {
  resync: {
    meaning: 'Events that come after this cursor are no longer kept.',
    remedy: 'Read what you need anew, and go on from "latest".',
  },
  expired: { meaning: 'Its time is over; ask for a new one.', remedy: 'Ask for a new one.' },
  stop_requested: {
    meaning: 'A stop is in force on this work, and agents cannot take it.',
    remedy: 'Take other work; a member can lift the stop. details.stopRequested says why.',
  },
  checkpoint_required: {
    meaning: 'There is no checkpoint to go on from; write one first.',
    remedy: 'Write a checkpoint first.',
  },
  branch_required: {
    meaning: 'To be handed in, work needs a branch or a pull request.',
    remedy: 'Say its branch or pull request first.',
  },
  invalid_pull_request: {
    meaning: 'The address belongs to a connected forge and is not the pull request of this number.',
    remedy: 'Give the address and the number of the pull request; details have those that were given.',
  },
  invalid_transition: {
    meaning: 'The workflow has no such move.',
    remedy: 'Read where it stands, and choose a move that the workflow has.',
  },
  blocked: {
    meaning: 'The story waits for something; details.readiness says for what.',
    remedy: 'Take other work, see to what details.readiness names, or begin all the same with force.',
  },
  policy: {
    meaning: "The organization's policy is not met; details.unmet says by what.",
    remedy: 'See to what details.unmet names, then call again.',
  },
  wip_limit: {
    meaning: 'The column is at its limit of work in progress.',
    remedy: 'Finish work in the column first, or choose another column.',
  },
  archived: {
    meaning: 'The project is archived; it can be read, not written.',
    remedy: 'Have a lead of the project bring it back first.',
  },
  seats_exhausted: {
    meaning: 'Every seat that was bought is taken.',
    remedy: 'Free a seat or buy one; a viewer needs none.',
  },
  limit_exceeded: {
    meaning: 'The plan or a fixed limit allows no more.',
    remedy:
      'Remove what is not needed, or take a larger plan where details name one; where they name retryAt, call again then.',
  },
  agent_retired: {
    meaning: 'The agent was retired; it acts no more.',
    remedy: 'Name another agent, or create one.',
  },
  mismatched_project: {
    meaning: 'The records named belong to different projects.',
    remedy: 'Name records of one project.',
  },
  no_role_in_project: {
    meaning: 'The member or agent you named has no role in the project and could not see it; give one first.',
    remedy: 'Give them a role in the project first.',
  },
  owner_required: {
    meaning: 'There is exactly one owner, whom no one changes but the owner by transferring.',
    remedy: 'Have the owner transfer the organization first.',
  },
  seat_required: {
    meaning: 'A viewer holds no seat and cannot own the organization; make them a member first.',
    remedy: 'Make them a member first.',
  },
  seats_in_use: {
    meaning: 'Fewer seats than are in use; free some first.',
    remedy: 'Free some seats first, or keep more.',
  },
  lead_required: {
    meaning: 'A private project keeps at least one lead.',
    remedy: 'Make another member lead first.',
  },
  malformed_content: {
    meaning: 'The content does not parse as the kind it claims to be.',
    remedy: 'Correct the content or its kind; details.problem says what is wrong.',
  },
  idempotency_mismatch: {
    meaning: 'The key was used before with another body.',
    remedy: 'Send another Idempotency-Key with another call.',
  },
  blocking_circle: {
    meaning: 'The story would end up blocking itself.',
    remedy: 'Leave out one of the stories that block each other.',
  },
  incomplete_order: {
    meaning: 'The order must name each active one exactly once.',
    remedy: 'List them again, and name each active one once.',
  },
  column_not_empty: {
    meaning: 'The column has stories and no column was named to take them.',
    remedy: 'Name a column that takes the stories.',
  },
  last_column: {
    meaning: 'The board needs a column for backlog and for done.',
    remedy: 'Create another column of that status first.',
  },
  not_a_root: {
    meaning: 'Only the first comment of a thread can be resolved.',
    remedy: 'Resolve the comment that details.rootId names.',
  },
  tombstone: {
    meaning: 'The comment was deleted; only its place is kept.',
    remedy: 'Leave it, or write a new comment.',
  },
  confirmation_mismatch: {
    meaning: 'The confirmation does not name the thing to be deleted.',
    remedy: 'Check that it is the right one, and confirm with its exact key or slug.',
  },
} as const satisfies Record<string, ReasonText>;
