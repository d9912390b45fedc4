import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { newCheckpoint } from '../../data/checkpoints.ts';
import { aboutGroup } from '../../data/groups.ts';
import { asCoordinator, goOn } from './as-coordinator.ts';

export const checkpoint = handle(registry.deliveryGroups.checkpoint, async (context) => {
  const { params, emit, refuse } = context;
  const { groupId, leaseToken, expectedSeq, ...written } = params;
  const grip = await asCoordinator(context, { groupId, leaseToken }, 'checkpoint');
  if (grip.kind === 'repeated') return grip.answer;
  const currentSeq = grip.group.checkpoint_seq;
  if (expectedSeq !== undefined && expectedSeq !== currentSeq) {
    throw refuse('version_mismatch', { currentVersion: currentSeq });
  }
  const next = newCheckpoint(written, currentSeq, grip.now);
  emit('group.checkpointed', aboutGroup(grip.group), { seq: next.seq });
  return goOn(context, grip, { changes: { checkpoint: next, checkpoint_seq: next.seq } });
});
