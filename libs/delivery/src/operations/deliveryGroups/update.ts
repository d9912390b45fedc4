import { requireVersion } from '@muster/driver';
import { deliveryRegistry } from '@muster/delivery-registry';
import { changedFields, handle } from '@muster/runtime';
import { groupSubject, deliveryGroups, lockGroup, toGroup, withoutLease } from '../../data/groups.ts';
import { canMoveGroup, isFinalGroupState } from '../../rules/group-states.ts';
import { endGroup, lockForGroupEnd } from './end-group.ts';

export const update = handle(deliveryRegistry.deliveryGroups.update, async (context) => {
  const { params, db, access, emit, refuse } = context;
  const { groupId, name, state, expectedVersion } = params;
  const ends = state !== undefined && isFinalGroupState(state);
  const [{ at }, group, end] = await Promise.all([
    access(),
    lockGroup(db, groupId),
    ends ? lockForGroupEnd(context) : undefined,
  ]);
  requireVersion(group, expectedVersion);
  const from = group.state;
  const fields = changedFields({ name: group.name, state: from }, { name, state });
  if (fields.length === 0) return { group: toGroup(group) };
  const to = state ?? from;
  if (isFinalGroupState(from) || (to !== from && !canMoveGroup(from, to)))
    throw refuse('invalid_transition', { from, to });
  if (end !== undefined) endGroup(context, group, to, end);

  const changed = deliveryGroups.save(db, group, { name: name ?? group.name, state: to }, at);
  if (fields.includes('name')) emit('group.updated', groupSubject(changed), { fields: ['name'] });
  if (to !== from)
    emit('group.stateChanged', groupSubject(changed), { from, to, coordinator: end?.coordinator ?? null });
  return { group: toGroup(end === undefined ? changed : withoutLease(changed)) };
});
