import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { findGroupOfStory, toGroup } from '../../data/groups.ts';

export const getForStory = handle(registry.deliveryGroups.getForStory, async ({ targetId, db }) => {
  const group = await findGroupOfStory(db, targetId);
  return { group: group === undefined ? null : toGroup(group) };
});
