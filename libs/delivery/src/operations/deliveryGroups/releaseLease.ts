import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutGroup } from '../../data/groups.ts';
import { asEnder, endLease, standing } from '../../leases/group-holder.ts';

export const releaseLease = handle(registry.deliveryGroups.releaseLease, async (context) => {
  const { params, emit } = context;
  const holder = await asEnder(context, params, 'releaseLease');
  if (holder.kind === 'repeated') return standing(holder);
  emit('group.leaseReleased', aboutGroup(holder.group), {});
  return endLease(context, holder, 'releaseLease');
});
