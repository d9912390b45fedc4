import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { findGroupOfStory, toGroup } from '../../data/groups.ts';

export const getForStory = handle(deliveryRegistry.deliveryGroups.getForStory, async ({ targetId, db }) => {
  const group = await findGroupOfStory(db, targetId);
  return { group: group === undefined ? null : toGroup(group) };
});
