import { applyReportedCode } from '@muster/contract';
import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { newCheckpoint } from '../../data/checkpoints.ts';
import { changeCodeUnderReview, lockCodeUnderReview } from '../../data/code-under-review.ts';
import { targetSubject } from '../../data/targets.ts';
import { readTouches } from '../../data/touches.ts';
import { requireHolder, withReportedUsage, writeAndRenewLease } from '../../leases/execution-holder.ts';
import { compareWithTouches } from '../../rules/touches.ts';

/** The most files that the event of a checkpoint names. */
const maxFilesInEvent = 50;

export const checkpoint = handle(deliveryRegistry.deliveryExecutions.checkpoint, async (context) => {
  const { params, db, emit, refuse } = context;
  const { executionId, leaseToken, expectedSeq, usage, ...written } = params;
  const { headSha } = written;
  // Lock order: stories before leases.
  const [codes, touches, holder] = await Promise.all([
    headSha === undefined ? [] : lockCodeUnderReview(db, executionId),
    written.filesTouched === undefined ? [] : readTouches(db, executionId),
    requireHolder(context, { executionId, leaseToken }),
  ]);
  const { execution, now, target } = holder;
  const currentSeq = execution.checkpoint_seq;
  if (expectedSeq !== undefined && expectedSeq !== currentSeq)
    throw refuse('version_mismatch', { currentVersion: currentSeq });
  const next = newCheckpoint(written, currentSeq, now);
  changeCodeUnderReview(db, codes, (code) => applyReportedCode(code, { headSha }, now));
  emit('execution.checkpointed', targetSubject(target), { executionId, seq: next.seq });
  const reported = await withReportedUsage(context, holder, usage);
  const answer = writeAndRenewLease(context, reported, 'checkpoint', {
    sets: { checkpoint: next, checkpoint_seq: next.seq },
    data: {
      ...{ seq: next.seq, summary: next.summary },
      // The stream keeps every checkpoint, so an event does not repeat a long list of files.
      filesTouched: next.filesTouched.slice(0, maxFilesInEvent),
      fileCount: next.filesTouched.length,
    },
  });
  return { ...answer, touches: compareWithTouches(next.filesTouched, touches) };
});
