import { z } from 'zod';
import { project } from './kernel/access.ts';
import { operation } from './kernel/operation.ts';
import { ExpectedVersion, Id, StoryRef } from './kernel/values.ts';
import { StoryStatus } from './records/project.ts';
import { Story, Warning } from './records/story.ts';

/**
 * The operation stories.updateStatus. It is not in libs/board-registry, because libs/delivery calls it, which
 * would otherwise be affected by each change of a board operation.
 */
export const updateStoryStatus = operation({
  name: 'stories.updateStatus',
  effect: 'write',
  idempotent: true,
  summary: 'Move a story to another status',
  keywords:
    'done close finish reopen cancel start ready ticket issue task card transition column in progress',
  description:
    'Moves a story along its workflow, to the end of columnId or of the first column with the status. Setting the current status has no effect, so the call can be repeated. Moving to done warns about open blockers and a live lease; in a project without a linked repository it completes submitted work.',
  access: project('contributor'),
  params: z.strictObject({
    storyId: StoryRef,
    status: StoryStatus,
    columnId: Id.optional(),
    expectedVersion: ExpectedVersion,
  }),
  result: z.object({ story: Story, warnings: z.array(Warning) }),
  refusals: [
    'invalid_transition',
    'policy',
    'wip_limit',
    'version_mismatch',
    'archived',
    'mismatched_project',
  ],
  emits: ['story.statusChanged', 'story.reordered', 'execution.completed', 'story.unblocked'],
  example: { storyId: 'WEB-1', status: 'in_review' },
});
