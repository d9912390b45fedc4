import { z } from 'zod';
import {
  org,
  project,
  operation,
  pageParams,
  pageSchemaOf,
  ActorParam,
  AgentParam,
  Id,
  MemberParam,
  ProjectRef,
  RepositoryUrl,
  boundedText,
  TouchesCheck,
  PassedOver,
  checkpointParams,
  Execution,
  ExecutionEvent,
  ExecutionState,
  executionStates,
  ExecutionTarget,
  Failure,
  LeaseToken,
  ListedExecution,
  Note,
  Observation,
  ObservationInput,
  Outcome,
  Phase,
  PullRequest,
  PullRequestRef,
  RunId,
  Signal,
  Summary,
  TtlSeconds,
  GitMeta,
  Labels,
  UsageReport,
  isTargetRef,
  targetIdIssue,
  TargetRef,
} from '@muster/contract';

const executionId = Id;
const exampleExecutionId = '01936d5c-0000-7000-8000-000000000090';
const exampleLease = {
  executionId: exampleExecutionId,
  leaseToken: 'lse_1_00000000000000000000000000000000',
};

const ExecutionAndSignals = z.object({ execution: Execution, signals: z.array(Signal) });

const touches = TouchesCheck.nullable().describe(
  'The files of the last checkpoint compared with touches of the stories; null if a story has no touches, the checkpoint has no files, or the patterns take too long to compare',
);

/**
 * The refusals that every operation of a lease holder can have: the lease is no longer current, or the
 * project is archived.
 */
const holderRefusals = ['stale_lease', 'archived'] as const;

export const deliveryExecutions = {
  acquire: operation({
    name: 'deliveryExecutions.acquire',
    effect: 'write',
    summary: 'Take the lease on a story or a delivery group',
    keywords: 'claim pick up start begin working take over resume continue ticket task',
    description:
      'Exactly one of several callers succeeds; the others learn who holds the lease and until when. The same holder (member, agent and runId) keeps its epoch and gets a new token. An expired lease of another holder may be taken, and the work continues from the last checkpoint. leaseToken is shown only in this response.',
    access: project('contributor'),
    params: z
      .strictObject({
        targetType: ExecutionTarget,
        targetId: TargetRef,
        ttlSeconds: TtlSeconds.optional(),
        runId: RunId.optional(),
        deviceId: boundedText(128, 1).optional(),
        phase: Phase.optional(),
        start: z.boolean().default(false).meta({
          description:
            'Also move a story from backlog or ready to in_progress, or from in_review if its work was sent back, with the same checks as stories.updateStatus',
        }),
        takeOver: z.boolean().default(false).meta({
          description:
            'Take over a live lease: leads may take any, members that of their own agent, and an agent that of another of its runs. The previous holder is notified',
        }),
      })
      .refine(isTargetRef, targetIdIssue),
    result: z.object({
      execution: Execution,
      leaseToken: z.string(),
      resumed: z.boolean().describe('Whether there is earlier work to continue'),
      signals: z.array(Signal),
    }),
    refusals: [
      'lease_held',
      'reserved',
      'invalid_transition',
      'stop_requested',
      'budget_exceeded',
      'has_children',
      'policy',
      'wip_limit',
      'archived',
    ],
    emits: ['execution.acquired', 'execution.superseded', 'execution.stopLifted', 'story.statusChanged'],
    secret: 'leaseToken',
    example: { targetType: 'story', targetId: 'WEB-1', runId: 'run-1', ttlSeconds: 900 },
  }),
  acquireNext: operation({
    name: 'deliveryExecutions.acquireNext',
    effect: 'write',
    summary: 'Take the lease on the next story that is ready',
    keywords:
      'claim pick next ticket task from the board queue what should i do pull work assign me something start backlog',
    description:
      'Concurrent callers get different stories; execution is null if none is available. Started work without a live lease comes first: offered to the caller, released, in need of rework, or with a lease that expired at least five minutes ago. Then come stories in ready, then those in backlog; each by priority, then by board order. Skipped are stories that cannot start (readiness in storyCollaboration.context says why), that others hold, that are reserved for or assigned to others, that are in an open delivery group, or that touch what others work on (avoidConflicts; witness is a path that both share); skipped lists the first 20. Work that a reviewer sent back is kept for its previous worker for 10 minutes. labels must all match. A runId that already holds a story of the project gets the same story again, so a call without an answer can be repeated. Without a runId each call takes another story. With waitSeconds the call waits until it can take one, and then returns immediately.',
    access: project('contributor'),
    params: z.strictObject({
      projectId: ProjectRef,
      labels: Labels.optional(),
      epicId: Id.optional(),
      assignedToMe: z.boolean().default(false).meta({
        description: 'Only stories assigned to the caller; for an agent, also those assigned to its member',
      }),
      runId: RunId.optional(),
      ttlSeconds: TtlSeconds.optional(),
      deviceId: boundedText(128, 1).optional(),
      phase: Phase.optional(),
      start: z.boolean().default(true).meta({
        description:
          'Also move the story from backlog or ready to in_progress, or from in_review if its work was sent back, with the same checks as stories.updateStatus',
      }),
      avoidConflicts: z.boolean().optional().meta({
        description:
          'Skip stories whose touches share a path with locks, work in progress or open pull requests of others. The default is true for agents and false for members',
      }),
      waitSeconds: z.int().min(0).max(25).default(0).meta({
        description: 'How long to wait until a story can be taken, in seconds',
      }),
    }),
    result: z.object({
      execution: Execution.nullable(),
      leaseToken: z.string().nullable(),
      resumed: z.boolean().describe('Whether there is earlier work to continue'),
      signals: z.array(Signal),
      skipped: z.array(PassedOver).describe('At most 20'),
    }),
    refusals: [
      'lease_held',
      'reserved',
      'invalid_transition',
      'stop_requested',
      'budget_exceeded',
      'has_children',
      'policy',
      'wip_limit',
      'archived',
    ],
    emits: ['execution.acquired', 'execution.superseded', 'story.statusChanged'],
    secret: 'leaseToken',
    example: { projectId: 'WEB', runId: 'run-2', ttlSeconds: 900 },
  }),
  renew: operation({
    name: 'deliveryExecutions.renew',
    effect: 'write',
    idempotent: true,
    summary: 'Renew the lease',
    keywords: 'extend prolong heartbeat alive keepalive longer time out expire claim lease',
    description:
      'Every operation of the holder renews the lease; this one does only that, also in an archived project.',
    access: project('contributor'),
    params: z.strictObject({
      executionId,
      leaseToken: LeaseToken,
      ttlSeconds: TtlSeconds.optional(),
      usage: UsageReport.optional(),
    }),
    result: ExecutionAndSignals,
    refusals: ['stale_lease'],
    emits: ['budget.warned'],
    reachesArchived: true,
    isRenewal: true,
    example: exampleLease,
  }),
  checkpoint: operation({
    name: 'deliveryExecutions.checkpoint',
    effect: 'write',
    summary: 'Save a checkpoint of the work',
    keywords: 'save my progress notes note remember handover summary log',
    description:
      'The next holder continues from the newest checkpoint. With expectedSeq the call fails if there is a newer one.',
    access: project('contributor'),
    params: z.strictObject({
      executionId,
      leaseToken: LeaseToken,
      ...checkpointParams,
      usage: UsageReport.optional(),
    }),
    result: ExecutionAndSignals.extend({ touches }),
    refusals: [...holderRefusals, 'version_mismatch'],
    emits: ['execution.checkpointed', 'budget.warned'],
    example: {
      ...exampleLease,
      summary: 'The form is built; its validation is missing',
      filesTouched: ['src/login.ts'],
    },
  }),
  update: operation({
    name: 'deliveryExecutions.update',
    effect: 'write',
    idempotent: true,
    summary: 'Report the progress of the work, or ask its holder to stop',
    keywords:
      'progress percent phase wait for an answer waiting blocked stop somebody cancel abort another agent branch',
    description:
      'With the leaseToken, the holder reports its phase, its progress, git facts, or the question whose answer it waits for; null clears a field, and ends the waiting. Without one, requestStop: true asks the holder to stop: the holder gets a signal, agents cannot acquire the target, and acquireNext skips it. The stop stays in force after release, expiry or a new runId, until a member lifts it with requestStop: false (on the newest execution of the target, completed or not) or by acquiring the target. Work without a holder ends as canceled, and so does work with an expired lease on a story or group that is finished.',
    access: project('contributor'),
    params: z
      .strictObject({
        executionId,
        leaseToken: LeaseToken.optional(),
        phase: Phase.nullish(),
        progress: z.int().min(0).max(100).nullish(),
        git: GitMeta.nullish(),
        waitingFor: z.strictObject({ questionId: Id }).nullable().optional(),
        requestStop: z.boolean().optional(),
        reason: boundedText(2000, 1).optional(),
      })
      .refine(({ leaseToken, requestStop }) => leaseToken !== undefined || requestStop !== undefined, {
        error: 'is required, unless a stop is requested or lifted',
        path: ['leaseToken'],
      })
      .refine(
        ({ requestStop, executionId: _, reason: _reason, ...others }) =>
          requestStop === undefined || Object.values(others).every((value) => value === undefined),
        { error: 'can be combined only with executionId and reason', path: ['requestStop'] },
      )
      .refine(({ reason, requestStop }) => reason === undefined || requestStop !== undefined, {
        error: 'requires requestStop',
        path: ['reason'],
      }),
    result: ExecutionAndSignals,
    refusals: [...holderRefusals, 'invalid_transition', 'invalid_pull_request'],
    emits: ['execution.updated', 'execution.stopRequested', 'execution.stopLifted', 'execution.completed'],
    example: { executionId: exampleExecutionId, requestStop: true, reason: 'The design changed' },
  }),
  handoff: operation({
    name: 'deliveryExecutions.handoff',
    effect: 'write',
    summary: 'Offer the work to another member or agent',
    keywords: 'hand over give pass transfer my work to another person agent colleague',
    description:
      'Offers it to exactly one member or agent, for whom it is reserved until the offer expires. Needs a checkpoint. The lease ends.',
    access: project('contributor'),
    params: z
      .strictObject({
        executionId,
        leaseToken: LeaseToken,
        toMemberId: MemberParam.optional(),
        toAgentId: AgentParam.optional(),
        note: Note.optional(),
        offerTtlSeconds: z.int().min(5).max(86_400).default(900),
      })
      .refine(({ toMemberId, toAgentId }) => (toMemberId === undefined) !== (toAgentId === undefined), {
        error: 'give exactly one of toMemberId and toAgentId',
        path: ['toMemberId'],
      }),
    result: z.object({ execution: Execution }),
    refusals: [...holderRefusals, 'checkpoint_required'],
    emits: ['execution.offered'],
    example: { ...exampleLease, toMemberId: '01936d5c-0000-7000-8000-000000000091' },
  }),
  release: operation({
    name: 'deliveryExecutions.release',
    effect: 'write',
    idempotent: true,
    summary: 'Release the work',
    keywords: 'drop abandon give up stop unclaim return task work cannot finish others may take',
    description:
      'It becomes available to others, with its checkpoint, and its locks are released. Also works in an archived project. If a merge was observed while the work was held, it is completed instead.',
    access: project('contributor'),
    params: z.strictObject({ executionId, leaseToken: LeaseToken, reason: Note.optional() }),
    result: z.object({ execution: Execution }),
    refusals: ['stale_lease'],
    reachesArchived: true,
    emits: ['execution.released', 'execution.completed'],
    example: exampleLease,
  }),
  complete: operation({
    name: 'deliveryExecutions.complete',
    effect: 'write',
    destructive: true,
    summary: 'Complete or submit the work',
    keywords: 'done finished submit ready for review pull request close end deliver fail',
    description:
      'submitted needs a branch or a pull request, and waits for the forge; if the merge was already observed, the work is completed immediately. The other outcomes are final. Work resubmitted with the code for which a reviewer still requests changes keeps needsRework. submitted and succeeded move a story from in_progress to in_review. The locks of the work, and those of its run without an execution, are released immediately. The URL of a pull request at a connected forge is stored in its canonical form.',
    access: project('contributor'),
    params: z.strictObject({
      executionId,
      leaseToken: LeaseToken,
      outcome: Outcome,
      failure: Failure.optional(),
      summary: Summary.optional(),
      pullRequest: PullRequest.optional(),
    }),
    result: z.object({ execution: Execution, touches }),
    refusals: [...holderRefusals, 'policy', 'branch_required', 'invalid_pull_request'],
    emits: ['execution.submitted', 'execution.completed', 'story.statusChanged', 'story.unblocked'],
    example: {
      ...exampleLease,
      outcome: 'submitted',
      pullRequest: { number: 17, url: 'https://example.com/acme/web/pull/17' },
    },
  }),
  recordForgeObservation: operation({
    name: 'deliveryExecutions.recordForgeObservation',
    effect: 'write',
    idempotent: true,
    summary: 'Record an observation about the code',
    keywords: 'report merged pull request ci checks github gitlab webhook build failed pushed',
    description:
      "Observations are append-only. Any contributor may add them, also after the work has ended; each dedupeKey counts once. They are ordered by observedAt, so a late one never replaces a newer state; more than five minutes ahead of the server's clock fails with 400. A push, or a pull request with a head commit, updates the code under review of the stories. Callers' observations have the trust level reported; under the policy requireMergeProof with mergeProof verified, a reported merge is stored but completes nothing. With repository, an observation from another repository than that of the work is refused; without it, the caller vouches that it concerns the work. The result of checks of an earlier head is stored but changes nothing.",
    access: project('contributor'),
    params: z.strictObject({
      executionId,
      observation: ObservationInput,
      repository: RepositoryUrl.optional().describe('The URL of the repository with the observed code'),
    }),
    result: z.object({ recorded: z.boolean(), observation: Observation, execution: Execution }),
    refusals: ['archived', 'other_repository'],
    emits: ['execution.observed', 'execution.completed', 'story.statusChanged', 'story.unblocked'],
    example: {
      executionId: exampleExecutionId,
      observation: {
        dedupeKey: 'delivery-1',
        kind: 'pr_opened',
        number: 17,
        observedAt: '2026-11-21T09:30:00.000Z',
      },
    },
  }),
  get: operation({
    name: 'deliveryExecutions.get',
    effect: 'read',
    summary: 'Get an execution',
    keywords: 'work lease state details run last checkpoint notes',
    description: 'An expired lease shows immediately, as state stalled.',
    access: project('viewer'),
    params: z.strictObject({ executionId }),
    result: z.object({ execution: Execution }),
    example: { executionId: exampleExecutionId },
  }),
  getForTarget: operation({
    name: 'deliveryExecutions.getForTarget',
    effect: 'read',
    summary: 'Get the execution of a story or a delivery group',
    keywords: 'who works holds is working on this story ticket lease state last checkpoint notes',
    description:
      'The execution that is not completed, otherwise the last one; null if no one has worked on it.',
    access: project('viewer'),
    params: z
      .strictObject({ targetType: ExecutionTarget, targetId: TargetRef })
      .refine(isTargetRef, targetIdIssue),
    result: z.object({ execution: Execution.nullable() }),
    example: { targetType: 'story', targetId: 'WEB-2' },
  }),
  list: operation({
    name: 'deliveryExecutions.list',
    effect: 'read',
    summary: 'List executions in projects that are not archived',
    keywords:
      'executions find by branch pull request pr who works on what in progress stalled abandoned submitted needs rework all agents offered offers handed to me',
    description:
      'In all projects that the caller may see and that are not archived, or in the named project; newest first. Filters are combined with AND. holderId is an agent, or a member including their agents; it matches live and expired leases (state stalled). branch and pullRequest match what the holder or the forge reported. repository leaves out work in other repositories. In a project with several linked ones it finds only work whose repository is known from its pull request or the connected forge. With several filters a page examines 1,000 executions, so it may have few or no items and still a nextCursor.',
    access: org('viewer'),
    params: z.strictObject({
      projectId: ProjectRef.optional(),
      state: z.union([ExecutionState, z.array(ExecutionState).min(1).max(executionStates.length)]).optional(),
      holderId: ActorParam.optional(),
      needsRework: z.boolean().optional(),
      branch: boundedText(255, 1).optional(),
      pullRequest: PullRequestRef.optional(),
      repository: RepositoryUrl.optional().describe('The URL of the repository with the work'),
      ...pageParams,
    }),
    result: pageSchemaOf(ListedExecution),
    example: { projectId: 'WEB', state: ['leased', 'waiting_input', 'stalled'] },
  }),
  eventsSince: operation({
    name: 'deliveryExecutions.eventsSince',
    effect: 'read',
    summary: 'Follow the events of an execution',
    keywords: 'wait watch poll stream history log news signals answer',
    description:
      'In commit order without gaps: continuing from lastSeq never misses an event. With waitSeconds the call returns as soon as there is one.',
    access: project('viewer'),
    params: z.strictObject({
      executionId,
      afterSeq: z.int().min(0).max(2_147_483_647).default(0),
      limit: pageParams.limit,
      waitSeconds: z.int().min(0).max(25).default(0),
    }),
    result: z.object({ items: z.array(ExecutionEvent), lastSeq: z.int() }),
    example: { executionId: exampleExecutionId },
  }),
};
