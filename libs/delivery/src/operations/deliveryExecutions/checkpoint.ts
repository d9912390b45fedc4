import { codeSaid, registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { newCheckpoint } from '../../data/checkpoints.ts';
import { changeCode, lockCode } from '../../data/code-under-review.ts';
import { aboutTarget } from '../../data/targets.ts';
import { asHolder, renewAndAnswer } from '../../leases/execution-holder.ts';

export const checkpoint = handle(registry.deliveryExecutions.checkpoint, async (context) => {
  const { params, db, emit, refuse } = context;
  const { executionId, leaseToken, expectedSeq, ...written } = params;
  const { headSha } = written;
  // Lock order: stories before leases.
  const [codes, holder] = await Promise.all([
    headSha === undefined ? [] : lockCode(db, executionId),
    asHolder(context, { executionId, leaseToken }),
  ]);
  const { execution, now, target } = holder;
  const currentSeq = execution.checkpoint_seq;
  if (expectedSeq !== undefined && expectedSeq !== currentSeq) {
    throw refuse('version_mismatch', { currentVersion: currentSeq });
  }
  const next = newCheckpoint(written, currentSeq, now);
  changeCode(db, codes, (code) => codeSaid(code, { headSha }, now));
  emit('execution.checkpointed', aboutTarget(target), { executionId, seq: next.seq });
  return renewAndAnswer(context, holder, 'checkpoint', {
    sets: { checkpoint: next, checkpoint_seq: next.seq },
    data: { seq: next.seq, summary: next.summary },
  });
});
