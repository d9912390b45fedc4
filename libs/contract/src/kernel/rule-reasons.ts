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
    meaning: 'Another caller changed the record after you read it.',
    remedy: 'Read it again, apply your change to the current version, and send details.currentVersion.',
  },
  already_exists: {
    meaning: 'A record with this name, key or slug already exists.',
    remedy: 'Use the existing record, or choose another name, key or slug.',
  },
  already_resolved: {
    meaning: 'A decision was already made.',
    remedy: 'Read the decision. If details.retryAt is present, you can call again then.',
  },
  idempotency_in_flight: {
    meaning: 'The first call with this idempotency key is still running.',
    remedy: 'Wait a second, then send the same call with the same key.',
    retryable: true,
  },
  lease_held: {
    meaning:
      'Another caller, or another run of yours, holds the lease; details.holder and details.expiresAt say who, and until when.',
    remedy:
      'If details.yours is true, continue your own work with details.runId. Otherwise choose other work, ask the holder, or try again after details.expiresAt.',
  },
  stale_lease: {
    meaning: 'Your lease has ended or was granted to another holder; nothing was changed.',
    remedy:
      'If leaseToken is not exactly as acquire returned it, correct it. Otherwise stop this work, read its current state, and acquire a new lease before you continue.',
  },
  in_active_group: {
    meaning: 'A story is already in another open delivery group; details name it.',
    remedy: 'Leave the story out, or remove it from the other group first.',
  },
  lock_held: {
    meaning: 'Locks of other holders conflict with yours; details.conflicts lists them.',
    remedy: 'Wait until they are released or expire, or lock fewer paths.',
    retryable: true,
  },
  stream_replaced: {
    meaning: 'You opened a newer event stream, which closed this one.',
    remedy: 'Close the streams that you do not read, then open this one again.',
  },
  run_ended: {
    meaning: 'The run has ended. Report further work as a new run with its own id.',
    remedy: 'Begin another run, with an id of its own.',
  },
  reserved: {
    meaning: 'The work is reserved for another member or agent for a few minutes.',
    remedy: 'Choose other work, or try again when details.offer has expired.',
    retryable: true,
  },
  active_on_another_machine: {
    meaning: 'This license is active on another machine.',
    remedy: 'Deactivate the license on that machine first, or contact the seller.',
  },
  slots_taken: {
    meaning: 'All slots of this license are in use on other machines.',
    remedy: 'Try again later, or release the license on one of those machines.',
    retryable: true,
  },
  not_activated: {
    meaning: 'This license is not active on any machine.',
    remedy: 'Activate the license first.',
  },
  order_mismatch: {
    meaning: 'A license with different content was already issued for this order.',
    remedy: 'Use another orderRef for a new sale. List the licenses of this orderRef to see what was issued.',
  },
  several_machines: {
    meaning: 'Several machines hold this license.',
    remedy: 'Name the machine by its slot.',
  },
} as const satisfies Record<string, ReasonText>;

/** The reasons of errors with status 422. */
export const unprocessable = {
  meter_exceeded: {
    meaning: 'The usage limit of this license is reached; details.meters has the usage.',
    remedy: 'Wait for the next period, or ask the seller for a higher limit.',
  },
  events_refused: {
    meaning: 'No usage event was counted; details.events has the reason of each.',
    remedy: 'Report events of known meters, from the last 35 days.',
  },
  resync: {
    meaning: 'The events after this cursor are no longer available.',
    remedy: 'Read the current records again, then continue from "latest".',
  },
  expired: { meaning: 'This has expired.', remedy: 'Request a new one.' },
  stop_requested: {
    meaning: 'A stop was requested for this work, so agents cannot take it.',
    remedy: 'Choose other work; a member can lift the stop. details.stopRequested has the reason.',
  },
  budget_exceeded: {
    meaning: 'A budget is used up, so agents cannot take this work; details.budget names it.',
    remedy: 'Wait for the next period of the budget, or ask a person to raise it.',
  },
  checkpoint_required: {
    meaning: 'The work has no checkpoint yet.',
    remedy: 'Write a checkpoint first.',
  },
  branch_required: {
    meaning: 'Work can be submitted only with a branch or a pull request.',
    remedy: 'Report the branch or the pull request of the work first.',
  },
  invalid_pull_request: {
    meaning: 'The URL belongs to a connected forge, but is not that of the pull request with this number.',
    remedy: 'Send the URL and the number of the same pull request; details repeat those that you sent.',
  },
  other_repository: {
    meaning: 'The work is in another repository than the one in the parameter repository.',
    remedy: 'Name the execution whose work is in this repository, or link the repository to its project.',
  },
  invalid_transition: {
    meaning: 'The workflow does not allow this change of status.',
    remedy: 'Read the current status, and choose a change that the workflow allows.',
  },
  blocked: {
    meaning: 'The story cannot be started yet; details.readiness lists what it waits for.',
    remedy: 'Choose other work, resolve what details.readiness lists, or start anyway with force.',
  },
  policy: {
    meaning: "The organization's policy is not met; details.unmet lists the missing conditions.",
    remedy: 'Meet the conditions in details.unmet, then call again.',
  },
  wip_limit: {
    meaning: 'The column has reached its limit of work in progress.',
    remedy: 'Finish work in the column first, or choose another column.',
  },
  archived: {
    meaning: 'The project is archived, so it is read-only.',
    remedy: 'Ask a lead of the project to restore it first.',
  },
  seats_exhausted: {
    meaning: 'All paid seats are in use.',
    remedy: 'Free a seat or buy one; viewers do not need a seat.',
  },
  upload_mismatch: {
    meaning: 'The upload differs from the size or SHA-256 that was declared; nothing was stored.',
    remedy: 'Upload exactly the file that you declared, or call attachments.create for the other file.',
  },
  upload_infected: {
    meaning: 'The virus scanner found malware in the upload; nothing was stored.',
    remedy: 'Remove the malware, and call attachments.create for the clean file.',
  },
  limit_exceeded: {
    meaning: 'A limit of the plan or of the product is reached.',
    remedy:
      'Remove what you no longer need, or upgrade if details name a larger plan. If details.retryAt is present, you can call again then.',
  },
  agent_retired: {
    meaning: 'The agent is retired and can no longer act.',
    remedy: 'Name another agent, or create one.',
  },
  mismatched_project: {
    meaning: 'The records belong to different projects.',
    remedy: 'Name only records of the same project.',
  },
  no_role_in_project: {
    meaning: 'The member or agent has no role in the project, so they could not see this.',
    remedy: 'Give them a role in the project first.',
  },
  owner_required: {
    meaning: 'The organization always has exactly one owner, and only a transfer changes who it is.',
    remedy: 'Ask the owner to transfer the organization first.',
  },
  seat_required: {
    meaning: 'A viewer holds no seat and cannot own the organization.',
    remedy: 'Change their role to member first.',
  },
  seats_in_use: {
    meaning: 'The number of seats is lower than the number in use.',
    remedy: 'Free some seats first, or keep more seats.',
  },
  lead_required: {
    meaning: 'A private project needs at least one lead.',
    remedy: 'Make another member a lead first.',
  },
  malformed_content: {
    meaning: 'The content is not valid for its kind.',
    remedy: 'Correct the content or its kind; details.problem describes the error.',
  },
  idempotency_mismatch: {
    meaning: 'The idempotency key was already used for a different call.',
    remedy: 'Send a new Idempotency-Key with each new call.',
  },
  blocking_circle: {
    meaning: 'The story would end up blocking itself. A parent waits for its children.',
    remedy: 'Remove one of the stories that block each other.',
  },
  nested_parent: {
    meaning: 'Stories nest one level deep: a parent is another story, without a parent of its own.',
    remedy: 'Name a story that has no parent, or remove the parent of that story first.',
  },
  has_children: {
    meaning: 'The story has children; details.children lists their keys.',
    remedy: 'Use one of its children instead, or remove them from this story first.',
  },
  dependency_cycle: {
    meaning: 'The stories would wait for each other; details.cycle lists them in order.',
    remedy: 'Remove one of the dependencies in details.cycle.',
  },
  incomplete_order: {
    meaning: 'The order must name each active column exactly once.',
    remedy: 'List the active columns again, and name each one once.',
  },
  column_not_empty: {
    meaning: 'The column still has stories, and no other column was named for them.',
    remedy: 'Name the column to which its stories should move.',
  },
  last_column: {
    meaning: 'The board needs at least one column with status backlog and one with status done.',
    remedy: 'Create another column of that status first.',
  },
  not_a_root: {
    meaning: 'Only the first comment of a thread can be resolved.',
    remedy: 'Resolve the comment with the id details.rootId.',
  },
  tombstone: {
    meaning: 'The comment was deleted.',
    remedy: 'Write a new comment instead.',
  },
  confirmation_mismatch: {
    meaning: 'The confirmation does not match the record to be deleted.',
    remedy: 'Check that this is the right record, then confirm with its exact key or slug.',
  },
} as const satisfies Record<string, ReasonText>;
