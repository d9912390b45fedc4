import { type deliveryRegistry } from '@muster/delivery-registry';
import { type HandlersOf } from '@muster/runtime';
import { acquireLease } from './acquireLease.ts';
import { checkpoint } from './checkpoint.ts';
import { create } from './create.ts';
import { get } from './get.ts';
import { getForStory } from './getForStory.ts';
import { list } from './list.ts';
import { releaseLease } from './releaseLease.ts';
import { renewLease } from './renewLease.ts';
import { replaceStories } from './replaceStories.ts';
import { update } from './update.ts';
import { updateGitMeta } from './updateGitMeta.ts';
import { updateUpstream } from './updateUpstream.ts';

export const deliveryGroups: HandlersOf<typeof deliveryRegistry.deliveryGroups> = {
  create,
  get,
  getForStory,
  list,
  update,
  replaceStories,
  updateGitMeta,
  updateUpstream,
  acquireLease,
  renewLease,
  releaseLease,
  checkpoint,
};
