import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutGroup, setGroup, toGroup, withoutLease } from '../../data/groups.ts';
import { endLease } from '../../data/leases.ts';
import { asCoordinator } from './as-coordinator.ts';

export const releaseLease = handle(registry.deliveryGroups.releaseLease, async (context) => {
  const { params, caller, db, emit } = context;
  const grip = await asCoordinator(context, params, 'releaseLease');
  if (grip.kind === 'repeated') return grip.answer;
  const { group, lease, claim, news } = grip;
  const told = { ...group, told_seq: news.toldSeq };
  db.later(setGroup(caller.orgId, told, ['told_seq'], claim));
  db.later(endLease(caller.orgId, lease.unit_type, lease.unit_id, claim, 'releaseLease'));
  emit('group.leaseReleased', aboutGroup(group), {});
  return { group: toGroup(withoutLease(told)), signals: news.signals };
});
