/** The work tools: start, ask, wait, submit, hand off, release. */
import { createHash } from 'node:crypto';
import { MusterError } from '@muster/client';
import { AttachmentKind, AttachmentTargetType, badRequest, refusal, textWithinBytes } from '@muster/contract';
import { registry } from '@muster/registry';
import { z } from 'zod';
import { type AnswerBody } from '../answers/answers.ts';
import { storyContextOperations, addStoryContext } from './beginning.ts';
import { dropUnsetParams, defineMacro, type MacroTool, type MacroSteps } from './macro.ts';

const { acquire, acquireNext, checkpoint, complete, eventsSince, get, handoff, release, renew, update } =
  registry.deliveryExecutions;
const { context: contextOperation } = registry.storyCollaboration;
const { updateStatus } = registry.stories;
const { create: createCommentOperation, delete: deleteComment } = registry.comments;
const { profile: profileOperation } = registry.members;
const lockOperation = registry.locks.acquire;
const { inbox } = registry.agents;
const createAttachment = registry.attachments.create;
const attachmentShape = createAttachment.params.shape;
const maxAttachedTextBytes = 64 * 1024;
const { after } = inbox.params.shape;

const acquireNextShape = acquireNext.params.shape;
const { executionId, leaseToken } = renew.params.shape;
const leaseParams = { executionId, leaseToken };
const { expectedSeq: _, data: __, usage: ___, ...checkpointShape } = checkpoint.params.shape;

type RenewedLease = z.output<typeof RenewedLease>;
const RenewedLease = renew.result;

interface LeaseCredentials {
  readonly executionId: string;
  readonly leaseToken: string;
}

/** Renews the lease and returns the execution. */
const renewLease = async (
  look: MacroSteps['callStep'],
  credentials: LeaseCredentials,
): Promise<RenewedLease> =>
  RenewedLease.parse(
    await look(renew, { executionId: credentials.executionId, leaseToken: credentials.leaseToken }),
  );

/**
 * Renews the lease before work that ends it. Returns undefined if the lease has already ended, possibly by an
 * earlier attempt of this same call. The last step of the call then replays the earlier result; the API
 * refuses the last step of any other call.
 */
const renewLeaseBeforeEnd = ({ callStepUncut }: MacroSteps, credentials: LeaseCredentials) =>
  renewLease(callStepUncut, credentials).catch((failure: unknown) => {
    if (failure instanceof MusterError && failure.reason === 'stale_lease') return undefined;
    throw failure;
  });

/** Renews the lease of a wait. If the work was submitted, the refusal says how to wait for the verdict. */
const renewLeaseOfWait = (look: MacroSteps['callStep'], credentials: LeaseCredentials) =>
  renewLease(look, credentials).catch(async (failure: unknown) => {
    if (!(failure instanceof MusterError) || failure.reason !== 'stale_lease') throw failure;
    if (failure.body.details?.issues !== undefined) throw failure;
    const { execution } = get.result.parse(await look(get, { executionId: credentials.executionId }));
    if (execution.state !== 'submitted') throw failure;
    const message = 'was submitted; call wait_for without executionId and leaseToken to get the verdict';
    throw refusal('stale_lease', { issues: [{ path: 'executionId', message }] });
  });

/** Returns a warning if questions on the story are still open. */
async function warnOfOpenQuestions(
  { callStep }: MacroSteps,
  storyId: string,
): Promise<{ readonly warnings?: readonly object[] }> {
  const { openThreads } = contextOperation.result
    .pick({ openThreads: true })
    .parse(await callStep(contextOperation, { storyId, include: ['openThreads'] }));
  const count = (openThreads ?? []).filter(({ kind }) => kind === 'question').length;
  if (count === 0) return {};
  const message = `Questions on the story that are still open: ${count}. wait_for without executionId and leaseToken returns the answer.`;
  return { warnings: [{ code: 'open_question', message }] };
}

/** Writes the last checkpoint and ends the lease. If ending is refused, restores the previous checkpoint. */
async function checkpointAndEnd(
  { callStep, writeStep, runOrUndo }: MacroSteps,
  { execution }: RenewedLease,
  checkpointParams: LeaseCredentials & AnswerBody,
  endLease: () => Promise<AnswerBody>,
): Promise<AnswerBody> {
  await writeStep(checkpoint, dropUnsetParams(checkpointParams));
  if (execution.checkpoint === null) return endLease();
  const { seq: _seq, at: _at, ...before } = execution.checkpoint;
  const { executionId: id, leaseToken: token } = checkpointParams;
  return runOrUndo(endLease, () =>
    callStep(checkpoint, dropUnsetParams({ executionId: id, leaseToken: token, ...before })),
  );
}

const StoryStartState = z.object({
  story: contextOperation.result.shape.story.unwrap(),
  execution: contextOperation.result.shape.execution,
  readiness: contextOperation.result.shape.readiness.unwrap(),
});
/**
 * The size limit in bytes for reading a story, which is large enough for any story. The model never sees this
 * result.
 */
const startStateMaxBytes = 1024 * 1024;

/**
 * Returns true if the story is blocked. The API allows a lease in this case, because the flag describes the
 * story rather than the work.
 */
const isStoryBlocked = ({ readiness: { reasons } }: z.output<typeof StoryStartState>): boolean =>
  reasons.includes('blocked_by') || reasons.includes('blocked');

/** The paths that a tool locks for the caller's work. */
const lockedPaths = lockOperation.params.shape.resources.meta({
  description: 'Paths with all below, or globs: src/auth, **/*.sql',
});

/**
 * Refuses, before anything is written, if a lock of another holder conflicts. Locks of the execution that the caller
 * acquires next do not conflict: they pass to the caller, or the acquisition is refused.
 */
async function requireFreePaths(
  { callStep }: MacroSteps,
  wanted: AnswerBody,
  execution?: { readonly id: string } | null,
): Promise<void> {
  const found = lockOperation.result.parse(
    await callStep(lockOperation, dropUnsetParams({ ...wanted, dryRun: true })),
  );
  const conflicts = found.conflicts.filter(
    ({ lock }) => lock.executionId === null || lock.executionId !== execution?.id,
  );
  if (conflicts.length > 0) throw refusal('lock_held', { conflicts });
}

/**
 * Returns true if someone works on the story by a run without a runId. If it is the caller, the work continues
 * without one.
 */
const isHeldWithoutRunId = (lease: { readonly runId: string | null; readonly expiresAt: string }): boolean =>
  lease.runId === null && Date.parse(lease.expiresAt) > Date.now();

const AcquiredLease = acquire.result.pick({ execution: true, leaseToken: true });

/**
 * The longest wait of one call in seconds, because clients and proxies abort longer calls. A larger value of
 * the caller is reduced to this limit.
 */
const maxWaitSeconds = 25;

export const macros: readonly MacroTool[] = [
  defineMacro({
    name: 'start_work',
    description:
      'Start a story, all or nothing: takes the lease, moves it to in_progress, locks the paths, returns all you need. Keep execution.id, leaseToken and runId. The same runId again continues.',
    params: z.strictObject({
      storyId: contextOperation.params.shape.storyId,
      resources: lockedPaths.optional(),
      runId: acquire.params.shape.runId,
      ttlSeconds: acquire.params.shape.ttlSeconds,
      force: z.boolean().default(false).meta({ description: 'Even if blocked' }),
    }),
    steps: [...storyContextOperations, acquire, lockOperation, release, updateStatus],
    run: async ({ storyId, resources, runId: givenRunId, ttlSeconds, force }, steps) => {
      const { callStep, writeStep, runOrUndo, createRunId } = steps;
      const include = ['story', 'execution', 'readiness'];
      const seen = StoryStartState.parse(
        await callStep(contextOperation, { storyId, include, maxBytes: startStateMaxBytes }),
      );
      const before = seen.execution?.lease ?? null;
      const goesOn = givenRunId !== undefined && before?.runId === givenRunId;
      if (!force && !goesOn && isStoryBlocked(seen)) throw refusal('blocked', { readiness: seen.readiness });
      const runId = givenRunId ?? (before !== null && isHeldWithoutRunId(before) ? undefined : createRunId());
      const wanted = { projectId: seen.story.projectId, resources, storyId, runId, ttlSeconds };
      if (resources !== undefined) await requireFreePaths(steps, wanted, seen.execution);
      const acquired = await writeStep(
        acquire,
        dropUnsetParams({ targetType: 'story', targetId: storyId, runId, ttlSeconds, start: true }),
      );
      const { execution, leaseToken: token } = AcquiredLease.parse(acquired);
      const undo = async () => {
        await callStep(release, { executionId: execution.id, leaseToken: token });
        const { status } = seen.story;
        if (status === 'backlog' || status === 'ready') await callStep(updateStatus, { storyId, status });
      };
      const takeLock = () =>
        writeStep(lockOperation, dropUnsetParams({ ...wanted, executionId: execution.id }));
      // Keep a lease that the caller already held.
      const isNew = before?.epoch !== execution.lease?.epoch;
      const locked = resources === undefined ? {} : await (isNew ? runOrUndo(takeLock, undo) : takeLock());
      return addStoryContext(steps, storyId, { ...acquired, ...locked });
    },
  }),
  defineMacro({
    name: 'next_work',
    description:
      'Start the next story, offers to you first. Returns as start_work, and skipped with reasons; no execution: none, call again with waitSeconds.',
    params: z.strictObject({
      projectId: acquireNextShape.projectId,
      labels: acquireNextShape.labels,
      runId: acquireNextShape.runId.unwrap(),
      waitSeconds: acquireNextShape.waitSeconds.meta({ description: 'Up to 25, until there is one' }),
      resources: lockedPaths.optional(),
      assignedToMe: z.boolean().optional(),
    }),
    steps: [acquireNext, lockOperation, ...storyContextOperations],
    run: async ({ resources, ...asked }, steps) => {
      const { projectId, runId } = asked;
      if (resources !== undefined) await requireFreePaths(steps, { projectId, resources, runId });
      const taken = await steps.writeStep(acquireNext, dropUnsetParams(asked));
      const { execution } = acquireNext.result.pick({ execution: true }).parse(taken);
      if (execution === null) return taken;
      const { id, targetId: storyId } = execution;
      // If a path was locked just now, the error contains the acquired work, which the caller keeps.
      const locked =
        resources === undefined
          ? {}
          : await steps.writeStep(lockOperation, { projectId, resources, runId, storyId, executionId: id });
      return addStoryContext(steps, storyId, { ...taken, ...locked });
    },
  }),
  defineMacro({
    name: 'lock_paths',
    description: 'Lock more paths for your work, all or none, until the work ends.',
    // start_work with the same runId does the same.
    listedIn: ['full', 'core'],
    params: z.strictObject({ ...leaseParams, resources: lockedPaths }),
    steps: [renew, lockOperation],
    run: async ({ resources, ...own }, steps) => {
      const { execution } = await renewLease(steps.callStep, own);
      const { id, projectId, targetType, targetId, lease } = execution;
      const storyId = targetType === 'story' ? targetId : undefined;
      const lock = { projectId, resources, storyId, executionId: id, runId: lease?.runId };
      return steps.writeStep(lockOperation, dropUnsetParams(lock));
    },
  }),
  defineMacro({
    name: 'ask_question',
    description: 'Ask about your story. wait_for returns the answer and keeps your lease and locks.',
    params: z.strictObject({
      ...leaseParams,
      question: createCommentOperation.params.shape.body,
      directedTo: createCommentOperation.params.shape.directedTo,
    }),
    steps: [renew, createCommentOperation, update, deleteComment],
    run: async ({ question, directedTo, ...own }, steps) => {
      const { callStep, writeStep, runOrUndo } = steps;
      const { execution } = await renewLease(callStep, own);
      if (execution.targetType !== 'story')
        throw badRequest('The parameters are invalid.', [
          { path: 'executionId', message: 'belongs to a delivery group; ask on one of its stories' },
        ]);
      const asked = await writeStep(
        createCommentOperation,
        dropUnsetParams({ storyId: execution.targetId, kind: 'question', body: question, directedTo }),
      );
      const { id: questionId } = createCommentOperation.result.parse(asked).comment;
      const waiting = await runOrUndo(
        () => writeStep(update, { ...own, waitingFor: { questionId } }),
        () => callStep(deleteComment, { commentId: questionId }),
      );
      return { ...asked, ...waiting };
    },
  }),
  defineMacro({
    name: 'wait_for',
    description:
      'Wait for an answer, stop, changed spec or verdict. Keeps the lease; without one: your inbox. Empty: call again.',
    params: z.strictObject({
      ...{ executionId: executionId.optional(), leaseToken: leaseToken.optional(), after },
      waitSeconds: z.int().min(0).max(300).default(20).meta({ description: 'Up to 25' }),
    }),
    steps: [renew, get, eventsSince, inbox],
    run: async ({ waitSeconds, after: cursor, ...named }, steps) => {
      const seconds = Math.min(waitSeconds, maxWaitSeconds);
      const { executionId: id, leaseToken: token } = named;
      if (id === undefined && token === undefined)
        return steps.writeStep(inbox, dropUnsetParams({ after: cursor, waitSeconds: seconds }));
      if (id === undefined || token === undefined)
        throw badRequest('The parameters are invalid.', [
          { path: 'executionId', message: 'belongs to leaseToken; give both, or none of them' },
        ]);
      const own = { executionId: id, leaseToken: token };
      const until = performance.now() + seconds * 1_000;
      for (;;) {
        const { execution, signals } = await renewLeaseOfWait(steps.callStep, own);
        const left = Math.ceil((until - performance.now()) / 1_000);
        if (signals.length > 0 || left <= 0) return { execution, signals };
        // The stream also contains the caller's own events, which are not signals.
        await steps.callStep(eventsSince, {
          executionId: own.executionId,
          afterSeq: execution.lastEventSeq,
          limit: 1,
          waitSeconds: left,
        });
      }
    },
  }),
  defineMacro({
    name: 'inbox',
    description: 'Read what came in for you: verdicts, stops, mentions, answers. Needs no lease.',
    // wait_for answers the same.
    listedIn: ['full', 'core'],
    params: z.strictObject({ after, waitSeconds: inbox.params.shape.waitSeconds }),
    steps: [inbox],
    run: (asked, { writeStep }) => writeStep(inbox, dropUnsetParams(asked)),
  }),
  defineMacro({
    name: 'submit_work',
    description:
      'Finish: saves a last checkpoint, frees locks, moves the story to in_review. submitted needs branch or pullRequest.',
    params: z.strictObject({
      ...checkpointShape,
      outcome: complete.params.shape.outcome.default('submitted'),
      failure: complete.params.shape.failure,
      pullRequest: complete.params.shape.pullRequest,
      branch: z.string().max(255).optional(),
    }),
    steps: [renew, contextOperation, checkpoint, update, complete],
    run: async ({ outcome, failure, pullRequest, branch, ...written }, steps) => {
      const { summary, ...own } = written;
      const { executionId: id, leaseToken: token } = own;
      const end = () =>
        steps.writeStep(
          complete,
          dropUnsetParams({ executionId: id, leaseToken: token, summary, outcome, failure, pullRequest }),
        );
      const now = await renewLeaseBeforeEnd(steps, own);
      if (now === undefined) return end();
      const { git, pullRequest: known } = now.execution;
      const code = pullRequest ?? branch ?? known ?? git?.pullRequest ?? git?.branch ?? null;
      if (outcome === 'submitted' && code === null) throw refusal('branch_required');
      if (branch !== undefined)
        await steps.callStep(update, { executionId: id, leaseToken: token, git: { branch } });
      const { targetType, targetId } = now.execution;
      const warned =
        outcome === 'submitted' && targetType === 'story' ? await warnOfOpenQuestions(steps, targetId) : {};
      return { ...(await checkpointAndEnd(steps, now, written, end)), ...warned };
    },
  }),
  defineMacro({
    name: 'hand_off_work',
    description: 'Offer your work to a member or agent, with a checkpoint.',
    params: z.strictObject({
      ...checkpointShape,
      toMemberId: handoff.params.shape.toMemberId,
      toAgentId: handoff.params.shape.toAgentId,
      note: handoff.params.shape.note,
    }),
    steps: [profileOperation, renew, checkpoint, handoff],
    run: async ({ toMemberId, toAgentId, note, ...written }, steps) => {
      if ((toMemberId === undefined) === (toAgentId === undefined))
        throw badRequest('The parameters are invalid.', [
          { path: 'toMemberId', message: 'give exactly one of toMemberId and toAgentId' },
        ]);
      if (toMemberId !== undefined) await steps.callStep(profileOperation, { memberId: toMemberId });
      const { executionId: id, leaseToken: token } = written;
      const offer = dropUnsetParams({ executionId: id, leaseToken: token, toMemberId, toAgentId, note });
      const end = () => steps.writeStep(handoff, offer);
      const now = await renewLeaseBeforeEnd(steps, written);
      if (now === undefined) return end();
      // Without a checkpoint the API refuses the handoff. Call it anyway, so that the API validates the
      // addressee before a checkpoint is written.
      if (now.execution.checkpoint === null)
        await steps.callStep(handoff, offer).catch((failure: unknown) => {
          if (!(failure instanceof MusterError) || failure.reason !== 'checkpoint_required') throw failure;
        });
      return checkpointAndEnd(steps, now, written, end);
    },
  }),
  defineMacro({
    name: 'release_work',
    description: 'Let others continue from the last checkpoint: save one first. Frees locks.',
    params: z.strictObject({ ...leaseParams, reason: release.params.shape.reason }),
    steps: [release],
    run: (params, { writeStep }) => writeStep(release, dropUnsetParams(params)),
  }),
  defineMacro({
    name: 'attach_text',
    description: 'Attach a text as a file.',
    // The full list is at its limit of tokens. The usual connection accepts calls of tools that it does not list.
    listedIn: [],
    params: z.strictObject({
      targetType: AttachmentTargetType.exclude(['comment']).default('story'),
      targetId: attachmentShape.targetId,
      name: attachmentShape.name,
      text: textWithinBytes(maxAttachedTextBytes),
      kind: AttachmentKind.extract(['file', 'test_report', 'log']).default('file'),
    }),
    steps: [createAttachment],
    run: async ({ text, ...params }, { callStepUncut, putFile }) => {
      const { attachment, upload } = createAttachment.result.parse(
        await callStepUncut(createAttachment, {
          ...{ ...params, contentType: 'text/plain', size: Buffer.byteLength(text) },
          sha256: createHash('sha256').update(text).digest('hex'),
        }),
      );
      await putFile(upload.url, text);
      const { id, name, kind, size } = attachment;
      return { attachment: { id, name, kind, size } };
    },
  }),
];
