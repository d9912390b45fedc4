import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { findGroupOfStory, toGroup } from '../../data/groups.ts';

export const getForStory = handle(registry.deliveryGroups.getForStory, async ({ params, db }) => {
  const group = await findGroupOfStory(db, params.storyId);
  return { group: group === undefined ? null : toGroup(group) };
});
