import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { getGroup, toGroup } from '../../data/groups.ts';

export const get = handle(deliveryRegistry.deliveryGroups.get, async ({ params, db }) => ({
  group: toGroup(await getGroup(db, params.groupId)),
}));
