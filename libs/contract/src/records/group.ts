/** Delivery groups: stories that are delivered together. */
import { z } from 'zod';
import { Id, nameText, recordStamps, StoryRef } from '../kernel/values.ts';
import { Checkpoint, Lease } from './execution.ts';
import { Git, Upstream } from './story.ts';

export const groupStates = ['draft', 'active', 'in_review', 'landed', 'abandoned'] as const;
export const GroupState = z.enum(groupStates);
export type GroupState = z.infer<typeof GroupState>;

export const MergeStrategy = z.enum(['per_story', 'integration_branch', 'stacked']);
export type MergeStrategy = z.infer<typeof MergeStrategy>;

export const GroupName = nameText(200);

/**
 * The stories of a group in the order of their delivery. Upper and lower case in keys are equal. Whether an
 * id and a key name the same story is checked later.
 */
export const GroupStories = z
  .array(StoryRef)
  .min(1)
  .max(100)
  .refine((refs) => new Set(refs.map((ref) => ref.toLowerCase())).size === refs.length, {
    error: 'must name each story only once',
  })
  .meta({ description: 'In the order of delivery; each story once' });

export const GroupProgress = z
  .object({
    total: z.int(),
    done: z.int().describe('Stories with status done'),
    landed: z.int().describe("Stories whose merge was observed, either their own or the group's"),
    blocked: z.int().describe('Unfinished stories that are marked as blocked'),
  })
  .meta({ id: 'GroupProgress' });
export type GroupProgress = z.infer<typeof GroupProgress>;

export const Group = z
  .object({
    id: Id,
    projectId: Id,
    name: z.string(),
    state: GroupState,
    storyIds: z.array(Id).describe('In the order of delivery'),
    mergeStrategy: MergeStrategy,
    git: Git.nullable(),
    upstream: Upstream.nullable(),
    lease: Lease.nullable().describe(
      "The coordinator's lease; each worker of the group has an execution of its own",
    ),
    checkpoint: Checkpoint.nullable(),
    progress: GroupProgress,
    ...recordStamps,
  })
  .meta({ id: 'Group' });
export type Group = z.infer<typeof Group>;
