/** The work tools: start, ask, wait, submit, hand off, release. */
import { MusterError } from '@muster/client';
import { badRequest, refusal, registry } from '@muster/registry';
import { z } from 'zod';
import { type AnswerBody } from '../answers/answers.ts';
import { asksOnBeginning, withContext } from './beginning.ts';
import { given, macro, type MacroTool, type Steps } from './macro.ts';

const { acquire, acquireNext, checkpoint, complete, eventsSince, handoff, release, renew, update } =
  registry.deliveryExecutions;
const { context } = registry.storyCollaboration;
const { updateStatus } = registry.stories;
const { create: comment, delete: deleteComment } = registry.comments;
const { profile } = registry.members;
const lock = registry.locks.acquire;

const nextShape = acquireNext.params.shape;
const { executionId, leaseToken } = renew.params.shape;
const held = { executionId, leaseToken };
const { expectedSeq: _, data: __, ...checkpointShape } = checkpoint.params.shape;

type Held = z.output<typeof Held>;
const Held = renew.result;

interface Grip {
  readonly executionId: string;
  readonly leaseToken: string;
}

/** Renews the lease and returns the execution. */
const hold = async (look: Steps['look'], grip: Grip): Promise<Held> =>
  Held.parse(await look(renew, { executionId: grip.executionId, leaseToken: grip.leaseToken }));

/**
 * Renews the lease before work that ends it. Returns undefined if the lease has already ended, possibly by an
 * earlier attempt of this same call. The last step of the call then replays the earlier result; the API
 * refuses the last step of any other call.
 */
const holdToEnd = ({ lookWhole }: Steps, grip: Grip) =>
  hold(lookWhole, grip).catch((failure: unknown) => {
    if (failure instanceof MusterError && failure.reason === 'stale_lease') return undefined;
    throw failure;
  });

/** Writes the last checkpoint and ends the lease. If ending is refused, restores the previous checkpoint. */
async function withCheckpoint(
  { look, take, orUndo }: Steps,
  { execution }: Held,
  written: Grip & AnswerBody,
  end: () => Promise<AnswerBody>,
): Promise<AnswerBody> {
  await take(checkpoint, given(written));
  if (execution.checkpoint === null) return end();
  const { seq: _seq, at: _at, ...before } = execution.checkpoint;
  const { executionId: id, leaseToken: token } = written;
  return orUndo(end, () => look(checkpoint, given({ executionId: id, leaseToken: token, ...before })));
}

const Seen = z.object({
  story: context.result.shape.story.unwrap(),
  execution: context.result.shape.execution,
  readiness: context.result.shape.readiness.unwrap(),
});
/**
 * The size limit in bytes for reading a story, which is large enough for any story. The model never sees this
 * result.
 */
const seenBytes = 1024 * 1024;

/**
 * Returns true if the story is blocked. The API allows a lease in this case, because the flag describes the
 * story rather than the work.
 */
const isWaiting = ({ readiness: { reasons } }: z.output<typeof Seen>): boolean =>
  reasons.includes('blocked_by') || reasons.includes('blocked');

const Acquired = acquire.result.pick({ execution: true, leaseToken: true });

/**
 * The longest wait of one call in seconds, because clients and proxies abort longer calls. A larger value of
 * the caller is reduced to this limit.
 */
const mostWaitSeconds = 25;

export const macros: readonly MacroTool[] = [
  macro({
    name: 'start_work',
    description:
      'Start a story, all or nothing: takes the lease, moves it to in_progress, locks the paths, returns all you need. Keep execution.id and leaseToken. Fails if blocked, held or locked. The same runId again: a new leaseToken.',
    params: z.strictObject({
      storyId: context.params.shape.storyId,
      resources: lock.params.shape.resources
        .optional()
        .meta({ description: 'Paths (with everything below) or globs: src/auth, **/*.sql' }),
      runId: acquire.params.shape.runId,
      ttlSeconds: acquire.params.shape.ttlSeconds,
      force: z.boolean().default(false).meta({ description: 'Even if it is blocked' }),
    }),
    steps: [...asksOnBeginning, acquire, lock, release, updateStatus],
    run: async ({ storyId, resources, runId, ttlSeconds, force }, steps) => {
      const { look, take, orUndo } = steps;
      const include = ['story', 'execution', 'readiness'];
      const seen = Seen.parse(await look(context, { storyId, include, maxBytes: seenBytes }));
      const before = seen.execution?.lease;
      const goesOn = runId !== undefined && before?.runId === runId;
      if (!force && !goesOn && isWaiting(seen)) throw refusal('blocked', { readiness: seen.readiness });
      const wanted = { projectId: seen.story.projectId, resources, storyId, runId, ttlSeconds };
      if (resources !== undefined) {
        const { conflicts } = lock.result.parse(await look(lock, given({ ...wanted, dryRun: true })));
        if (conflicts.length > 0) throw refusal('lock_held', { conflicts });
      }
      const acquired = await take(
        acquire,
        given({ targetType: 'story', targetId: storyId, runId, ttlSeconds, start: true }),
      );
      const { execution, leaseToken: token } = Acquired.parse(acquired);
      const undo = async () => {
        await look(release, { executionId: execution.id, leaseToken: token });
        const { status } = seen.story;
        if (status === 'backlog' || status === 'ready') await look(updateStatus, { storyId, status });
      };
      const takeLock = () => take(lock, given({ ...wanted, executionId: execution.id }));
      // Keep a lease that the caller already held.
      const isNew = before?.epoch !== execution.lease?.epoch;
      const locked = resources === undefined ? {} : await (isNew ? orUndo(takeLock, undo) : takeLock());
      return withContext(steps, storyId, { ...acquired, ...locked });
    },
  }),
  macro({
    name: 'next_work',
    description:
      'Start the next available story, offers to you first. Returns the same as start_work, and skipped with reasons; no execution: none available. start_work with the same runId locks paths.',
    params: z.strictObject({
      ...{ projectId: nextShape.projectId, labels: nextShape.labels, runId: nextShape.runId.unwrap() },
      assignedToMe: z.boolean().optional(),
    }),
    steps: [acquireNext, ...asksOnBeginning],
    run: async (asked, steps) => {
      const taken = await steps.take(acquireNext, given(asked));
      const { execution } = acquireNext.result.pick({ execution: true }).parse(taken);
      return execution === null ? taken : withContext(steps, execution.targetId, taken);
    },
  }),
  macro({
    name: 'ask_question',
    description:
      'Ask about the story you work on. wait_for returns the answer and keeps your lease and locks.',
    params: z.strictObject({
      ...held,
      question: comment.params.shape.body,
      directedTo: comment.params.shape.directedTo,
    }),
    steps: [renew, comment, update, deleteComment],
    run: async ({ question, directedTo, ...own }, steps) => {
      const { look, take, orUndo } = steps;
      const { execution } = await hold(look, own);
      if (execution.targetType !== 'story')
        throw badRequest('The parameters are invalid.', [
          { path: 'executionId', message: 'belongs to a delivery group; ask on one of its stories' },
        ]);
      const asked = await take(
        comment,
        given({ storyId: execution.targetId, kind: 'question', body: question, directedTo }),
      );
      const { id: questionId } = comment.result.parse(asked).comment;
      const waiting = await orUndo(
        () => take(update, { ...own, waitingFor: { questionId } }),
        () => look(deleteComment, { commentId: questionId }),
      );
      return { ...asked, ...waiting };
    },
  }),
  macro({
    name: 'wait_for',
    description:
      'Wait for what concerns you: an answer, a stop, a changed spec, a verdict. Keeps the lease. No signals: call again.',
    params: z.strictObject({
      ...held,
      waitSeconds: z.int().min(0).max(300).default(20).meta({ description: 'Up to 25' }),
    }),
    steps: [renew, eventsSince],
    run: async ({ waitSeconds, ...own }, steps) => {
      const until = performance.now() + Math.min(waitSeconds, mostWaitSeconds) * 1_000;
      for (;;) {
        const { execution, signals } = await hold(steps.look, own);
        const left = Math.ceil((until - performance.now()) / 1_000);
        if (signals.length > 0 || left <= 0) return { execution, signals };
        // The stream also contains the caller's own events, which are not signals.
        await steps.look(eventsSince, {
          executionId: own.executionId,
          afterSeq: execution.lastEventSeq,
          limit: 1,
          waitSeconds: left,
        });
      }
    },
  }),
  macro({
    name: 'submit_work',
    description:
      'Finish: saves a last checkpoint and completes the work; frees locks, moves the story to in_review. submitted needs branch or pullRequest.',
    params: z.strictObject({
      ...checkpointShape,
      outcome: complete.params.shape.outcome.default('submitted'),
      failure: complete.params.shape.failure,
      pullRequest: complete.params.shape.pullRequest,
      branch: z.string().max(255).optional(),
    }),
    steps: [renew, checkpoint, update, complete],
    run: async ({ outcome, failure, pullRequest, branch, ...written }, steps) => {
      const { summary, ...own } = written;
      const { executionId: id, leaseToken: token } = own;
      const end = () =>
        steps.take(
          complete,
          given({ executionId: id, leaseToken: token, summary, outcome, failure, pullRequest }),
        );
      const now = await holdToEnd(steps, own);
      if (now === undefined) return end();
      const { git, pullRequest: known } = now.execution;
      const code = pullRequest ?? branch ?? known ?? git?.pullRequest ?? git?.branch ?? null;
      if (outcome === 'submitted' && code === null) throw refusal('branch_required');
      if (branch !== undefined)
        await steps.look(update, { executionId: id, leaseToken: token, git: { branch } });
      return withCheckpoint(steps, now, written, end);
    },
  }),
  macro({
    name: 'hand_off_work',
    description: 'Offer the work to one member or agent, with a checkpoint; ends your lease.',
    params: z.strictObject({
      ...checkpointShape,
      toMemberId: handoff.params.shape.toMemberId,
      toAgentId: handoff.params.shape.toAgentId,
      note: handoff.params.shape.note,
    }),
    steps: [profile, renew, checkpoint, handoff],
    run: async ({ toMemberId, toAgentId, note, ...written }, steps) => {
      if ((toMemberId === undefined) === (toAgentId === undefined))
        throw badRequest('The parameters are invalid.', [
          { path: 'toMemberId', message: 'give exactly one of toMemberId and toAgentId' },
        ]);
      if (toMemberId !== undefined) await steps.look(profile, { memberId: toMemberId });
      const { executionId: id, leaseToken: token } = written;
      const offer = given({ executionId: id, leaseToken: token, toMemberId, toAgentId, note });
      const end = () => steps.take(handoff, offer);
      const now = await holdToEnd(steps, written);
      if (now === undefined) return end();
      // Without a checkpoint the API refuses the handoff. Call it anyway, so that the API validates the
      // addressee before a checkpoint is written.
      if (now.execution.checkpoint === null)
        await steps.look(handoff, offer).catch((failure: unknown) => {
          if (!(failure instanceof MusterError) || failure.reason !== 'checkpoint_required') throw failure;
        });
      return withCheckpoint(steps, now, written, end);
    },
  }),
  macro({
    name: 'release_work',
    description: 'Let others continue from the last checkpoint: save one first. Frees its locks.',
    params: z.strictObject({ ...held, reason: release.params.shape.reason }),
    steps: [release],
    run: (params, { take }) => take(release, given(params)),
  }),
];
