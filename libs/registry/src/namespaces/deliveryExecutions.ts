import { z } from 'zod';
import { org, project } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { ActorParam, AgentParam, Id, MemberParam, ProjectRef, text } from '../kernel/values.ts';
import { PassedOver } from '../records/context.ts';
import {
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
} from '../records/execution.ts';
import { GitMeta, Labels } from '../records/story.ts';
import { isTargetRef, noTargetRef, TargetRef } from '../records/target.ts';

const executionId = Id;
const execution = '01936d5c-0000-7000-8000-000000000090';
const held = { executionId: execution, leaseToken: 'lse_1_00000000000000000000000000000000' };

const ExecutionAndSignals = z.object({ execution: Execution, signals: z.array(Signal) });

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
    description: `Of many at once exactly one wins; the others hear who holds it and until when. The same holder (member, agent and runId) keeps its epoch and gets a fresh token; another holder's expired lease may be taken, and its work goes on from the last checkpoint. leaseToken is shown here and nowhere else.`,
    access: project('contributor'),
    params: z
      .strictObject({
        targetType: ExecutionTarget,
        targetId: TargetRef,
        ttlSeconds: TtlSeconds.optional(),
        runId: RunId.optional(),
        deviceId: text(128, 1).optional(),
        phase: Phase.optional(),
        start: z.boolean().default(false).meta({
          description: 'Also move a story from backlog or ready to in_progress, under the same gates',
        }),
        takeOver: z.boolean().default(false).meta({
          description:
            'A lead may take a live lease, and a member that of their own agent; its holder is told',
        }),
      })
      .refine(isTargetRef, noTargetRef),
    result: z.object({
      execution: Execution,
      leaseToken: z.string(),
      resumed: z.boolean().describe('There is earlier work to go on from'),
      signals: z.array(Signal),
    }),
    refusals: [
      'lease_held',
      'reserved',
      'invalid_transition',
      'stop_requested',
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
    summary: 'Take the lease on the next story that is ready to be worked on',
    keywords:
      'claim pick next ticket task from the board queue what should i do pull work assign me something start backlog',
    description: `N callers at once get N different stories; execution is null where none is left. First comes work that was begun and has no live lease: offered to the caller, released, past its lease's time or in need of rework. Then the stories in ready, then those in backlog. Of each the most urgent come first, then those further left and higher up on the board. Passed over is what cannot start (storyCollaboration.context says so as readiness), what another holds, what is reserved for or assigned to another, and what is in an open delivery group; skipped tells of the first 20. Work that a reviewer sent back comes first to the caller who did it before, and to all others after 10 minutes. A story has to have all of the labels. A runId that holds a story of the project gets that one again, as from acquire: so it may repeat a call whose answer it never heard. Without a runId each call takes another story.`,
    access: project('contributor'),
    params: z.strictObject({
      projectId: ProjectRef,
      labels: Labels.optional(),
      epicId: Id.optional(),
      assignedToMe: z
        .boolean()
        .default(false)
        .meta({ description: 'Only what is assigned to the caller, an agent also to its member' }),
      runId: RunId.optional(),
      ttlSeconds: TtlSeconds.optional(),
      deviceId: text(128, 1).optional(),
      phase: Phase.optional(),
      start: z.boolean().default(true).meta({
        description: 'Also move the story from backlog or ready to in_progress, under the same gates',
      }),
    }),
    result: z.object({
      execution: Execution.nullable(),
      leaseToken: z.string().nullable(),
      resumed: z.boolean().describe('There is earlier work to go on from'),
      signals: z.array(Signal),
      skipped: z.array(PassedOver).describe('At most 20'),
    }),
    refusals: [
      'lease_held',
      'reserved',
      'invalid_transition',
      'stop_requested',
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
    summary: 'Keep the lease',
    keywords: 'extend prolong heartbeat alive keepalive longer time out expire claim lease',
    description: `Any operation of the holder renews; this one does nothing else. It goes on in a project that was archived meanwhile.`,
    access: project('contributor'),
    params: z.strictObject({ executionId, leaseToken: LeaseToken, ttlSeconds: TtlSeconds.optional() }),
    result: ExecutionAndSignals,
    refusals: ['stale_lease'],
    reachesArchived: true,
    isRenewal: true,
    example: held,
  }),
  checkpoint: operation({
    name: 'deliveryExecutions.checkpoint',
    effect: 'write',
    summary: 'Write down how far the work is',
    keywords: 'save my progress notes note remember handover summary log',
    description: `A successor goes on from the newest checkpoint. expectedSeq makes it conditional.`,
    access: project('contributor'),
    params: z.strictObject({ executionId, leaseToken: LeaseToken, ...checkpointParams }),
    result: ExecutionAndSignals,
    refusals: [...holderRefusals, 'version_mismatch'],
    emits: ['execution.checkpointed'],
    example: { ...held, summary: 'The form is there, its checks are not', filesTouched: ['src/login.ts'] },
  }),
  update: operation({
    name: 'deliveryExecutions.update',
    effect: 'write',
    idempotent: true,
    summary: 'Say where the work stands, or ask its holder to stop',
    keywords:
      'progress percent phase wait for an answer waiting blocked stop somebody cancel abort another agent branch',
    description: `With the leaseToken the holder says its phase, progress, git facts or which question it waits for; null clears each, and goes on where it waited. Without one, requestStop: true is in force until a member lifts it, also after release, expiry and a new runId: the holder sees it as a signal, agents cannot acquire the target, and acquireNext passes it over. Work without a holder ends as canceled, and so does work past its lease's time on what is done or landed, which no other can take. A member lifts the stop by requestStop: false, on the newest execution of the target, completed or not, or by acquiring the target.`,
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
        reason: text(2000, 1).optional(),
      })
      .refine(({ leaseToken, requestStop }) => leaseToken !== undefined || requestStop !== undefined, {
        error: 'is needed, unless a stop is requested or lifted',
        path: ['leaseToken'],
      })
      .refine(
        ({ requestStop, executionId: _, reason: _reason, ...others }) =>
          requestStop === undefined || Object.values(others).every((value) => value === undefined),
        { error: 'goes with executionId and reason alone', path: ['requestStop'] },
      )
      .refine(({ reason, requestStop }) => reason === undefined || requestStop !== undefined, {
        error: 'goes with requestStop',
        path: ['reason'],
      }),
    result: ExecutionAndSignals,
    refusals: [...holderRefusals, 'invalid_transition', 'invalid_pull_request'],
    emits: ['execution.updated', 'execution.stopRequested', 'execution.stopLifted', 'execution.completed'],
    example: { executionId: execution, requestStop: true, reason: 'The design changed' },
  }),
  handoff: operation({
    name: 'deliveryExecutions.handoff',
    effect: 'write',
    summary: 'Offer the work to another member or agent',
    keywords: 'hand over give pass transfer my work to another person agent colleague',
    description: `To exactly one member or agent, for whom it is reserved until the offer ends. Needs a checkpoint to go on from. The lease ends with it.`,
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
    example: { ...held, toMemberId: '01936d5c-0000-7000-8000-000000000091' },
  }),
  release: operation({
    name: 'deliveryExecutions.release',
    effect: 'write',
    idempotent: true,
    summary: 'Let go of the work',
    keywords: 'drop abandon give up stop unclaim return task work cannot finish others may take',
    description: `It becomes available to others, with its checkpoint; the locks taken for it are freed, also in a project that was archived meanwhile. Where a merge of the work was seen while it was held, it is completed instead.`,
    access: project('contributor'),
    params: z.strictObject({ executionId, leaseToken: LeaseToken, reason: Note.optional() }),
    result: z.object({ execution: Execution }),
    refusals: ['stale_lease'],
    reachesArchived: true,
    emits: ['execution.released', 'execution.completed'],
    example: held,
  }),
  complete: operation({
    name: 'deliveryExecutions.complete',
    effect: 'write',
    destructive: true,
    summary: 'Finish the work, or hand it in',
    keywords: 'done finished submit ready for review pull request close end deliver fail',
    description: `submitted needs a branch or a pull request and awaits the forge, or is completed at once where the merge was seen before; the others are final. Handed in again with the code for which a reviewer still requests changes, it keeps needsRework. submitted and succeeded move a story from in_progress to in_review. The locks taken for it, and those of its run that go with no work, are freed at once. The address of a pull request at a connected forge is kept in its canonical form.`,
    access: project('contributor'),
    params: z.strictObject({
      executionId,
      leaseToken: LeaseToken,
      outcome: Outcome,
      failure: Failure.optional(),
      summary: Summary.optional(),
      pullRequest: PullRequest.optional(),
    }),
    result: z.object({ execution: Execution }),
    refusals: [...holderRefusals, 'policy', 'branch_required', 'invalid_pull_request'],
    emits: ['execution.submitted', 'execution.completed', 'story.statusChanged', 'story.unblocked'],
    example: {
      ...held,
      outcome: 'submitted',
      pullRequest: { number: 17, url: 'https://example.com/acme/web/pull/17' },
    },
  }),
  recordForgeObservation: operation({
    name: 'deliveryExecutions.recordForgeObservation',
    effect: 'write',
    idempotent: true,
    summary: 'Record what was seen on the forge',
    keywords: 'report merged pull request ci checks github gitlab webhook build failed pushed',
    description: `Append-only, by anybody who contributes, also after the end. One dedupeKey counts once. Facts are folded by observedAt, so that a late one never turns a newer state back; one more than five minutes ahead of the server's clock is 400. A push, and a pull request that names its head, tell what is under review of the stories. What a token tells is reported; with policy requireMergeProof and mergeProof verified a reported merge is kept and completes nothing.`,
    access: project('contributor'),
    params: z.strictObject({
      executionId,
      observation: ObservationInput,
    }),
    result: z.object({ recorded: z.boolean(), observation: Observation, execution: Execution }),
    refusals: ['archived'],
    emits: ['execution.observed', 'execution.completed', 'story.statusChanged', 'story.unblocked'],
    example: {
      executionId: execution,
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
    description: `An expired lease shows at once, as state stalled.`,
    access: project('viewer'),
    params: z.strictObject({ executionId }),
    result: z.object({ execution: Execution }),
    example: { executionId: execution },
  }),
  getForTarget: operation({
    name: 'deliveryExecutions.getForTarget',
    effect: 'read',
    summary: 'Get the execution of a story or a delivery group',
    keywords: 'who works holds is working on this story ticket lease state last checkpoint notes',
    description: `The one that is not completed, else the last; null where no one ever worked on it.`,
    access: project('viewer'),
    params: z
      .strictObject({ targetType: ExecutionTarget, targetId: TargetRef })
      .refine(isTargetRef, noTargetRef),
    result: z.object({ execution: Execution.nullable() }),
    example: { targetType: 'story', targetId: 'WEB-2' },
  }),
  list: operation({
    name: 'deliveryExecutions.list',
    effect: 'read',
    summary: 'List the work on stories and delivery groups, without archived projects',
    keywords:
      'executions find by branch pull request pr who works on what in progress stalled abandoned submitted needs rework all agents offered offers handed to me',
    description: `Of all projects that the caller may see and that are not archived, or of the one that is named; newest first. Filters add up. holderId is an agent, or a member with its agents: the holder of the lease, live or past its time, which shows as state stalled. branch and pullRequest find what the holder or the forge named. A page of several filters looks through 1,000 executions: it may hold few or none and still have a nextCursor.`,
    access: org('viewer'),
    params: z.strictObject({
      projectId: ProjectRef.optional(),
      state: z.union([ExecutionState, z.array(ExecutionState).min(1).max(executionStates.length)]).optional(),
      holderId: ActorParam.optional(),
      needsRework: z.boolean().optional(),
      branch: text(255, 1).optional(),
      pullRequest: PullRequestRef.optional(),
      ...page,
    }),
    result: pageOf(ListedExecution),
    example: { projectId: 'WEB', state: ['leased', 'waiting_input', 'stalled'] },
  }),
  eventsSince: operation({
    name: 'deliveryExecutions.eventsSince',
    effect: 'read',
    summary: 'Follow the events of an execution',
    keywords: 'wait watch poll stream history log news signals answer',
    description: `In commit order, without gaps: going on from lastSeq never misses one. With waitSeconds it answers as soon as there is one.`,
    access: project('viewer'),
    params: z.strictObject({
      executionId,
      afterSeq: z.int().min(0).max(2_147_483_647).default(0),
      limit: page.limit,
      waitSeconds: z.int().min(0).max(25).default(0),
    }),
    result: z.object({ items: z.array(ExecutionEvent), lastSeq: z.int() }),
    example: { executionId: execution },
  }),
};
