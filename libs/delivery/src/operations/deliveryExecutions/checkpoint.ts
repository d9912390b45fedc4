import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { newCheckpoint } from '../../data/checkpoints.ts';
import { aboutTarget } from '../../data/targets.ts';
import { asHolder, goOn } from './as-holder.ts';

export const checkpoint = handle(registry.deliveryExecutions.checkpoint, async (context) => {
  const { params, emit, refuse } = context;
  const { executionId, leaseToken, expectedSeq, ...written } = params;
  const grip = await asHolder(context, { executionId, leaseToken }, 'checkpoint');
  if (grip.kind === 'repeated') return { execution: grip.execution, signals: [] };
  const { execution, now } = grip;
  const currentSeq = execution.checkpoint_seq;
  if (expectedSeq !== undefined && expectedSeq !== currentSeq) {
    throw refuse('version_mismatch', { currentVersion: currentSeq });
  }
  const next = newCheckpoint(written, currentSeq, now);
  emit('execution.checkpointed', aboutTarget(grip.target), { executionId, seq: next.seq });
  return goOn(context, grip, {
    changes: { checkpoint: next, checkpoint_seq: next.seq },
    deeds: [{ kind: 'checkpointed', data: { seq: next.seq, summary: next.summary } }],
  });
});
