import { requireVersion } from '@muster/driver';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { newCheckpoint } from '../../data/checkpoints.ts';
import { aboutGroup } from '../../data/groups.ts';
import { asCoordinator, renewAndAnswer } from '../../leases/group-holder.ts';

export const checkpoint = handle(registry.deliveryGroups.checkpoint, async (context) => {
  const { params, emit } = context;
  const { groupId, leaseToken, expectedSeq, ...written } = params;
  const holder = await asCoordinator(context, { groupId, leaseToken });
  const currentSeq = holder.group.checkpoint_seq;
  requireVersion({ version: currentSeq }, expectedSeq);
  const next = newCheckpoint(written, currentSeq, holder.now);
  emit('group.checkpointed', aboutGroup(holder.group), { seq: next.seq });
  return renewAndAnswer(context, holder, { changes: { checkpoint: next, checkpoint_seq: next.seq } });
});
