import { requireVersion } from '@muster/driver';
import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { newCheckpoint } from '../../data/checkpoints.ts';
import { groupSubject } from '../../data/groups.ts';
import { requireCoordinator, writeAndRenewLease } from '../../leases/group-holder.ts';

export const checkpoint = handle(deliveryRegistry.deliveryGroups.checkpoint, async (context) => {
  const { params, emit } = context;
  const { groupId, leaseToken, expectedSeq, ...written } = params;
  const holder = await requireCoordinator(context, { groupId, leaseToken });
  const currentSeq = holder.group.checkpoint_seq;
  requireVersion({ version: currentSeq }, expectedSeq);
  const next = newCheckpoint(written, currentSeq, holder.now);
  emit('group.checkpointed', groupSubject(holder.group), { seq: next.seq });
  return writeAndRenewLease(context, holder, { changes: { checkpoint: next, checkpoint_seq: next.seq } });
});
