/**
 * The sections of a story's context with their reading functions. Each function sends one or two statements
 * of its own. To add a section, add a line to this table; rules/context-cuts.ts defines how the section
 * shrinks.
 */
import { type ContextSection, internalOperations } from '@muster/contract';
import { deliveryRegistry } from '@muster/delivery-registry';
import { organizationsRegistry } from '@muster/organizations-registry';
import { readRecentActivity } from './activity.ts';
import { readContracts, readPrompts } from './agreements.ts';
import { readAssignment, readReviewers } from './people.ts';
import { readReadiness } from './readiness.ts';
import { type SectionReader, toCompleteSection } from './scope.ts';
import { readEpic, readOnlookers, readSpec, readStory } from './story.ts';
import { readOpenThreads, readRequestedChanges } from './threads.ts';

export const sectionReaders: { readonly [Name in ContextSection]: SectionReader<Name> } = {
  story: readStory,
  epic: readEpic,
  spec: readSpec,
  openThreads: readOpenThreads,
  rework: readRequestedChanges,
  reviewers: readReviewers,
  assignment: readAssignment,
  execution: async ({ loadExecution }) => toCompleteSection(await loadExecution()),
  deliveryGroup: async ({ performOperation, storyRef }) =>
    toCompleteSection(
      (await performOperation(deliveryRegistry.deliveryGroups.getForStory, { storyId: storyRef })).group,
    ),
  locks: async ({ loadNearbyWork }) => {
    const { locks, moreLocks } = await loadNearbyWork();
    return { value: locks, hasMore: moreLocks };
  },
  collisions: async ({ loadNearbyWork }) => {
    const { collisions, moreCollisions } = await loadNearbyWork();
    return { value: collisions, hasMore: moreCollisions };
  },
  touches: async ({ performOperation, storyRef }) => {
    const { touches } = await performOperation(internalOperations.storyTouches, { storyId: storyRef });
    return { value: touches, hasMore: touches === null };
  },
  prompts: readPrompts,
  contracts: readContracts,
  policy: async ({ performOperation }) =>
    toCompleteSection((await performOperation(organizationsRegistry.policy.get, {})).policy),
  recentActivity: readRecentActivity,
  others: readOnlookers,
  readiness: readReadiness,
};
