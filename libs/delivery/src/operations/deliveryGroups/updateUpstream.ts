import { toUpstream } from '@muster/contract';
import { deliveryRegistry } from '@muster/delivery-registry';
import { changedFields, handle } from '@muster/runtime';
import { groupSubject, deliveryGroups, lockGroup, toGroup } from '../../data/groups.ts';

export const updateUpstream = handle(
  deliveryRegistry.deliveryGroups.updateUpstream,
  async ({ params, db, access, emit }) => {
    const [{ at }, group] = await Promise.all([access(), lockGroup(db, params.groupId)]);
    const upstream = params.upstream && toUpstream(params.upstream);
    const fields = changedFields({ upstream: group.upstream }, { upstream });
    if (fields.length === 0) return { group: toGroup(group) };
    const changed = deliveryGroups.save(db, group, { upstream }, at);
    // The unique index refuses a second group with the same upstream: already_exists.
    emit('group.upstreamUpdated', groupSubject(group), {
      provider: upstream?.provider ?? null,
      externalId: upstream?.externalId ?? null,
    });
    return { group: toGroup(changed) };
  },
);
