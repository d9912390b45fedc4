import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { findGroupOfStory, toGroup } from '../../data/groups.ts';

export const getForStory = handle(registry.deliveryGroups.getForStory, async ({ params, caller, db }) => {
  const group = await findGroupOfStory(db, caller.orgId, params.storyId);
  return { group: group === undefined ? null : toGroup(group) };
});
