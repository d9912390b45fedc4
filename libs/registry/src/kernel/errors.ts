/**
 * Everything that can go wrong, stated once: CONTRACT's error codes with their HTTP status, and the exact
 * reasons (`details.reason`) with the code each belongs to and whether the same call can succeed later unchanged.
 */
import { z } from 'zod';

/** Error code → HTTP status of the answer. */
export const errorStatus = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  unknown_operation: 404,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** The expected refusals of operations: reason → its code, what it means, and whether a retry unchanged can help. */
export const reasons = {
  version_mismatch: {
    code: 'conflict',
    retryable: false,
    meaning: 'Somebody changed it since the version you named; read it again.',
  },
  already_exists: { code: 'conflict', retryable: false, meaning: 'One with that name, key or slug exists.' },
  already_resolved: { code: 'conflict', retryable: false, meaning: 'It was decided before.' },
  idempotency_in_flight: {
    code: 'conflict',
    retryable: true,
    meaning: 'The first call with this key is still running.',
  },
  expired: { code: 'unprocessable', retryable: false, meaning: 'Its time is over; ask for a new one.' },
  lease_held: {
    code: 'conflict',
    retryable: false,
    meaning: 'Somebody holds the lease; details say who, and until when.',
  },
  stale_lease: {
    code: 'conflict',
    retryable: false,
    meaning: 'The lease was granted anew or has ended; nothing was changed.',
  },
  in_active_group: {
    code: 'conflict',
    retryable: false,
    meaning: 'A story is in another delivery group that is open; details name it.',
  },
  lock_held: {
    code: 'conflict',
    retryable: true,
    meaning: 'Others hold locks that are in the way; details.conflicts says which.',
  },
  run_ended: {
    code: 'conflict',
    retryable: false,
    meaning: 'The run has ended; what goes on is another run, with an id of its own.',
  },
  reserved: {
    code: 'conflict',
    retryable: true,
    meaning: 'The work is offered to somebody else for a while.',
  },
  stop_requested: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'This run was asked to stop; another one may go on.',
  },
  checkpoint_required: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'There is no checkpoint to go on from; write one first.',
  },
  branch_required: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'To be handed in, work needs a branch or a pull request.',
  },
  invalid_transition: { code: 'unprocessable', retryable: false, meaning: 'The workflow has no such move.' },
  policy: {
    code: 'unprocessable',
    retryable: false,
    meaning: "The organization's policy is not met; details.unmet says by what.",
  },
  wip_limit: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'The column is at its limit of work in progress.',
  },
  archived: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'The project is archived; it can be read, not written.',
  },
  seats_exhausted: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'Every seat that was bought is taken.',
  },
  limit_exceeded: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'The plan or a fixed limit allows no more.',
  },
  mismatched_project: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'The records named belong to different projects.',
  },
  no_role_in_project: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'Whoever is named has no role in the project and could not see it; give one first.',
  },
  owner_required: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'There is exactly one owner, whom nobody changes but the owner by transferring.',
  },
  seat_required: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'A viewer holds no seat and cannot own the organization; make them a member first.',
  },
  seats_in_use: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'Fewer seats than are in use; free some first.',
  },
  lead_required: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'A private project keeps at least one lead.',
  },
  malformed_content: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'The content does not parse as the kind it claims to be.',
  },
  idempotency_mismatch: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'The key was used before with another body.',
  },
  blocking_circle: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'The story would end up blocking itself.',
  },
  incomplete_order: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'The order must name each active one exactly once.',
  },
  column_not_empty: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'The column has stories and no column was named to take them.',
  },
  last_column: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'The board needs a column for backlog and for done.',
  },
  not_a_root: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'Only the first comment of a thread can be resolved.',
  },
  tombstone: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'The comment was deleted; only its place is kept.',
  },
  confirmation_mismatch: {
    code: 'unprocessable',
    retryable: false,
    meaning: 'The confirmation does not name the thing to be deleted.',
  },
} as const satisfies Record<string, { code: ErrorCode; retryable: boolean; meaning: string }>;

export type Reason = keyof typeof reasons;

/** One field that does not fit: `path` as in `stories[2].title`, and what is wanted. */
export const Issue = z.object({ path: z.string(), message: z.string() });
export type Issue = z.infer<typeof Issue>;

/** The error object, the same on every surface. */
export const ErrorBody = z
  .object({
    code: z.enum(Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    status: z.int(),
    requestId: z.string(),
    details: z
      .looseObject({
        reason: z.string().optional().describe('The exact case; act on this, not on the message'),
        issues: z.array(Issue).optional().describe('The fields that do not fit'),
        retryable: z.boolean().optional().describe('Whether the same call can succeed later unchanged'),
      })
      .optional(),
  })
  .meta({ id: 'Error' });
export type ErrorBody = z.infer<typeof ErrorBody>;
