/** Delivery: executions of stories and groups, their leases, and their progress. */
import { z } from 'zod';
import {
  Id,
  Instant,
  jsonObject,
  nameText,
  multilineText,
  boundedText,
  textWithinBytes,
  Time,
  Url,
  Version,
} from '../kernel/values.ts';
import { Actor } from './member.ts';
import { Trust, verifiedDedupeKeyPrefix } from './merge-proof.ts';
import { StoryStatus } from './project.ts';
import { Git, Sha } from './story.ts';

/** The id that a client assigns to one run of an agent or a person. */
export const RunId = nameText(128).meta({ description: "The client's own id of its run" });

/** The lease token. Only the acquire call that granted the lease returns it. */
export const LeaseToken = boundedText(200, 1).meta({ description: 'As returned by acquire' });

/**
 * The requested duration of a lease. Any number is accepted: the policy caps it, and values below 5 s are
 * raised, because such a lease would expire before its answer arrives.
 */
export const TtlSeconds = z.int().min(1).max(2_147_483_647).meta({
  description:
    "Duration in seconds. Less than 5 is raised to 5, more than the policy's maximum is reduced; the response has the actual duration",
});

/** The kinds of records that can be worked on under a lease. */
export const ExecutionTarget = z.enum(['story', 'delivery_group']);
export type ExecutionTarget = z.infer<typeof ExecutionTarget>;

export const executionStates = [
  'available',
  'leased',
  'waiting_input',
  'stalled',
  'offered',
  'submitted',
  'completed',
] as const;
export const ExecutionState = z.enum(executionStates);
export type ExecutionState = z.infer<typeof ExecutionState>;

/** Work under a lease that the caller holds, or held until it expired. */
export const HeldWork = z.object({
  key: z.string().nullable().describe('The key of the story; null for a delivery group'),
  title: z.string(),
  executionId: Id,
  runId: z.string().nullable(),
  state: ExecutionState,
  expiresAt: Time,
});
export type HeldWork = z.infer<typeof HeldWork>;

/** The most entries of session.identity about held work. */
export const maxHeldWork = 20;

export const Phase = z.enum(['planning', 'implementing', 'testing', 'reviewing', 'merging']);
export const Outcome = z.enum(['submitted', 'succeeded', 'failed', 'canceled']);
export type Outcome = z.infer<typeof Outcome>;
export const Failure = z.enum([
  'agent_error',
  'timeout',
  'context_exhausted',
  'rate_limited',
  'permission_denied',
  'conflict',
  'infra',
]);

export const Lease = z
  .object({
    holder: Actor,
    runId: z.string().nullable(),
    epoch: z.int().describe('The fencing number: it grows with each new grant and is never reused'),
    ttlSeconds: z.int(),
    expiresAt: Time.describe(
      'From this time on, other callers with access may acquire the work; until one does, the holder can continue',
    ),
    renewBy: Time.describe('When two thirds of the lease duration have passed'),
  })
  .meta({ id: 'Lease' });
export type Lease = z.infer<typeof Lease>;

export const Offer = z
  .object({
    toMemberId: Id.nullable(),
    toAgentId: Id.nullable(),
    note: z.string().nullable(),
    expiresAt: Time,
  })
  .meta({ id: 'Offer' });
export type Offer = z.infer<typeof Offer>;

/** The reason why submitted work must be continued. */
export const Rework = z
  .object({
    note: z.string().nullable(),
    by: Actor.nullable().describe('null for a reviewer at the forge who is not a member'),
    at: Time,
    source: z.enum(['muster', 'forge']),
    specVersion: z.int().nullable(),
    headSha: z.string().nullable(),
  })
  .meta({ id: 'Rework' });
export type Rework = z.infer<typeof Rework>;

/** The state from which the next holder continues. */
export const Checkpoint = z
  .object({
    seq: z.int().min(1),
    summary: z.string(),
    nextSteps: z.array(z.string()),
    filesTouched: z.array(z.string()),
    headSha: z.string().nullable(),
    pushed: z.boolean(),
    data: z.record(z.string(), z.unknown()).nullable(),
    at: Time,
  })
  .meta({ id: 'Checkpoint' });
export type Checkpoint = z.infer<typeof Checkpoint>;

const maxCheckpointDataBytes = 64 * 1024;

/** The parameters of a checkpoint. Executions and groups both use them. */
export const checkpointParams = {
  summary: boundedText(2000, 1),
  nextSteps: z.array(boundedText(500, 1)).max(50).optional(),
  filesTouched: z.array(boundedText(512, 1)).max(500).optional(),
  headSha: Sha.optional(),
  pushed: z.boolean().optional(),
  data: jsonObject(maxCheckpointDataBytes).optional(),
  expectedSeq: z.int().min(0).max(2_147_483_647).optional().meta({
    description:
      'The seq of the checkpoint that you read, 0 if there was none; any other value fails with 409 version_mismatch',
  }),
};

export const PullRequest = z.strictObject({ number: z.int().min(1).max(2_147_483_647), url: Url });

export const signalKinds = [
  'stop_requested',
  'spec_changed',
  'story_changed',
  'new_comments',
  'question_answered',
  'review_verdict',
  'lock_conflict',
  'forge',
] as const;

/** A signal for the holder: something that happened since its last operation. */
export const Signal = z
  .object({
    kind: z.enum(signalKinds),
    seq: z
      .int()
      .describe("The source event: an event of the execution, or of the organization's activity for a group"),
    at: Time,
    data: z
      .record(z.string(), z.unknown())
      .describe(
        'The content of the signal. For question_answered: the question, and answer: {commentId, body, author}. For new_comments: body and author, the first 1,000 characters',
      ),
  })
  .meta({ id: 'Signal' });
export type Signal = z.infer<typeof Signal>;

export const Execution = z
  .object({
    id: Id,
    projectId: Id,
    targetType: ExecutionTarget,
    targetId: Id,
    state: ExecutionState,
    phase: Phase.nullable(),
    progress: z.int().min(0).max(100),
    attempt: z.int().min(1).describe('Grows by one with each grant to another holder'),
    specVersion: z.int().nullable().describe('The version of the story at the grant; null for a group'),
    lease: Lease.nullable(),
    offer: Offer.nullable(),
    waitingFor: z.object({ questionId: Id }).nullable(),
    checkpoint: Checkpoint.nullable(),
    git: Git.nullable(),
    deviceId: z.string().nullable(),
    runId: z.string().nullable(),
    outcome: Outcome.nullable(),
    failure: Failure.nullable(),
    summary: z.string().nullable(),
    pullRequest: z.object({ number: z.int(), url: z.string() }).nullable(),
    needsRework: z.boolean(),
    rework: Rework.nullable(),
    stopRequested: z.object({ by: Actor, reason: z.string().nullable(), at: Time }).nullable(),
    lastEventSeq: z.int(),
    createdAt: Time,
    updatedAt: Time,
    completedAt: Time.nullable(),
    version: Version,
  })
  .meta({ id: 'Execution' });
export type Execution = z.infer<typeof Execution>;

/** An execution as lists show it, with a summary of its story or group. */
export const ListedExecution = Execution.extend({
  story: z
    .object({ id: Id, key: z.string(), title: z.string(), status: StoryStatus })
    .nullable()
    .describe('null if it works on a group'),
  group: z
    .object({ id: Id, name: z.string() })
    .nullable()
    .describe('The delivery group; null if it works on a story'),
  answered: z
    .boolean()
    .describe('true while it waits for a question to which someone other than its author has replied'),
}).meta({ id: 'ListedExecution' });
export type ListedExecution = z.infer<typeof ListedExecution>;

/** A pull request by its number, which may be text, or by its URL. */
export const PullRequestRef = z
  .union([
    z.int().min(1),
    z
      .string()
      .max(2048)
      .refine((text) => /^[1-9][0-9]{0,14}$/.test(text) || Url.safeParse(text).success, {
        error: "must be a pull request's number or its URL",
      }),
  ])
  .meta({ description: "The pull request's number or its URL" });

export const ExecutionEvent = z
  .object({
    seq: z.int(),
    kind: z.string(),
    actor: Actor,
    data: z.record(z.string(), z.unknown()),
    at: Time,
  })
  .meta({ id: 'ExecutionEvent' });
export type ExecutionEvent = z.infer<typeof ExecutionEvent>;

export const ObservationKind = z.enum([
  'branch_pushed',
  'pr_opened',
  'pr_updated',
  'pr_merged',
  'pr_closed',
  'pr_reopened',
  'checks_passed',
  'checks_failed',
  'merge_conflict',
  'review_approved',
  'changes_requested',
  'review_dismissed',
]);
export type ObservationKind = z.infer<typeof ObservationKind>;

/** An observation at the forge that was recorded, with its trust. */
export const Observation = z
  .object({
    dedupeKey: z.string(),
    kind: ObservationKind,
    trust: Trust.describe('reported by members and agents; verified only by a connected forge'),
    ref: z.string().nullable(),
    sha: z.string().nullable(),
    number: z.int().nullable(),
    url: z.string().nullable(),
    observedAt: Time,
  })
  .meta({ id: 'Observation' });
export type Observation = z.infer<typeof Observation>;

/** An observation at the forge that a caller wants to record. */
export const ObservationInput = z.strictObject({
  dedupeKey: boundedText(255, 1).refine((key) => !key.startsWith(verifiedDedupeKeyPrefix), {
    error: `must not begin with "${verifiedDedupeKeyPrefix}", which is reserved for connected forges`,
  }),
  kind: ObservationKind,
  ref: boundedText(255, 1).optional(),
  sha: Sha.optional(),
  number: z.int().min(1).max(2_147_483_647).optional(),
  url: Url.optional(),
  before: Sha.optional(),
  reviewer: boundedText(100, 1).optional(),
  data: jsonObject(16 * 1024).optional(),
  observedAt: Instant,
});

export const forgeAspects = ['branch', 'pullRequest', 'checks', 'merging', 'review'] as const;
export type ForgeAspect = (typeof forgeAspects)[number];

/** The newest fact from the forge about one aspect, such as the checks of a pull request. */
export interface ForgeFact {
  readonly kind: ObservationKind;
  /** The time of the fact in ISO 8601, in UTC with milliseconds. Comparing such texts orders them by time. */
  readonly at: string;
  readonly dedupeKey: string;
  readonly ref: string | null;
  readonly sha: string | null;
  readonly number: number | null;
  readonly url: string | null;
  /**
   * The number of check reports that were combined into this result. If two facts have the same time, the
   * higher number wins.
   */
  readonly rev?: number;
  /** The head commit that the new head replaced, if the forge reports it. */
  readonly before?: string;
  /** The forge's own id of the reviewer. Only the newest review of each reviewer counts. */
  readonly reviewer?: string;
}

/**
 * The combined reports of the forge. `reviews` has the newest review of each known reviewer. `review` is the
 * newest review whose reviewer is unknown.
 */
export type ForgeState = Readonly<Partial<Record<ForgeAspect, ForgeFact>>> & {
  readonly reviews?: Readonly<Record<string, ForgeFact>>;
};

export const Note = multilineText(2000, 1);
export const Summary = textWithinBytes(16 * 1024);
