/**
 * The sections of a story's context with their reading functions. Each function sends one or two statements
 * of its own. To add a section, add a line to this table; rules/context-cuts.ts defines how the section
 * shrinks.
 */
import { type ContextSection, registry } from '@muster/registry';
import { recentActivity } from './activity.ts';
import { contracts, prompts } from './agreements.ts';
import { assignment, reviewers } from './people.ts';
import { readiness } from './readiness.ts';
import { type Section, whole } from './scope.ts';
import { epic, others, spec, story } from './story.ts';
import { openThreads, rework } from './threads.ts';

export const sections: { readonly [Name in ContextSection]: Section<Name> } = {
  story,
  epic,
  spec,
  openThreads,
  rework,
  reviewers,
  assignment,
  execution: async ({ execution }) => whole(await execution()),
  deliveryGroup: async ({ perform, storyRef }) =>
    whole((await perform(registry.deliveryGroups.getForStory, { storyId: storyRef })).group),
  locks: async ({ workAround }) => {
    const { locks, moreLocks } = await workAround();
    return { value: locks, more: moreLocks };
  },
  collisions: async ({ workAround }) => {
    const { collisions, moreCollisions } = await workAround();
    return { value: collisions, more: moreCollisions };
  },
  prompts,
  contracts,
  policy: async ({ perform }) => whole((await perform(registry.policy.get, {})).policy),
  recentActivity,
  others,
  readiness,
};
