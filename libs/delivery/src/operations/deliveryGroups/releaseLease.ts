import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { groupSubject } from '../../data/groups.ts';
import { requireCoordinatorToEnd, endCoordinationLease, currentGroup } from '../../leases/group-holder.ts';

export const releaseLease = handle(deliveryRegistry.deliveryGroups.releaseLease, async (context) => {
  const { params, emit } = context;
  const holder = await requireCoordinatorToEnd(context, params, 'releaseLease');
  if (holder.kind === 'repeated') return currentGroup(holder);
  emit('group.leaseReleased', groupSubject(holder.group), {});
  return endCoordinationLease(context, holder, 'releaseLease');
});
