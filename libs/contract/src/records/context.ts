/** The information that a worker needs to begin work on a story, cut to the requested size. */
import { z } from 'zod';
import { Id, Time } from '../kernel/values.ts';
import { Assignment } from './assignment.ts';
import { Comment } from './comment.ts';
import { ConflictingWork, StoryTouches } from './conflict.ts';
import { Contract } from './contract.ts';
import { Execution, Rework } from './execution.ts';
import { Group } from './group.ts';
import { Lock } from './lock.ts';
import { Actor, MemberRef } from './member.ts';
import { PolicyRecord } from './org.ts';
import { Epic, StoryStatus } from './project.ts';
import { Prompt } from './prompt.ts';
import { Reviewer } from './review.ts';
import { Spec, Story } from './story.ts';
import { ActivityItem } from './trail.ts';

const OpenComment = Comment.omit({ reactions: true });

/** An unresolved thread: its root with its replies, oldest first. */
export const OpenThread = OpenComment.extend({ replies: z.array(OpenComment) }).meta({ id: 'OpenThread' });
export type OpenThread = z.infer<typeof OpenThread>;

/** A file that this story's work touches, and that other current work touches or holds a lock on. */
export const Collision = z
  .object({
    path: z.string().describe('A path that both have in common'),
    kind: z.enum(['execution', 'lock']).describe('The execution or lock with the conflict'),
    id: Id.describe('The id of the execution or lock'),
    storyId: Id.nullable(),
    holder: Actor.nullable(),
  })
  .meta({ id: 'Collision' });
export type Collision = z.infer<typeof Collision>;

/** The reasons why work on a story cannot begin. */
export const obstacles = {
  archived: 'The project is archived.',
  finished: 'The story is done or canceled.',
  blocked_by: 'Stories that it waits for are not finished.',
  blocked: 'The story is blocked, and a member must remove the block.',
  has_children: 'It has children that are not finished; the work is done on them.',
  spec_missing: 'The policy requires a spec.',
  policy: 'The policy has other conditions that are not met.',
  no_column: 'The board has no column with status in_progress.',
  wip_limit: 'The column for work in progress has reached its limit.',
  lease_held: 'Another caller holds the lease.',
  stop_requested: 'A member asked to stop.',
} as const;
export type Obstacle = keyof typeof obstacles;
const obstacleNames = Object.keys(obstacles) as [Obstacle, ...Obstacle[]];

/**
 * The reasons why a story is not offered as the next one. They include the obstacles that prevent work on it.
 */
export const passedOverMeanings = {
  ...obstacles,
  reserved: 'The work is offered to another member or agent for a few minutes.',
  in_active_group: 'The story belongs to an open delivery group, so it is delivered together with others.',
  assigned_to_another: 'The story is assigned to another member or agent.',
  conflict: 'The story touches paths that others work on.',
  budget_exceeded: 'A budget of the organization, project, agent or story is used up.',
} as const;
export type PassedOverReason = keyof typeof passedOverMeanings;
const passedOverReasons = Object.keys(passedOverMeanings) as [PassedOverReason, ...PassedOverReason[]];

export const PassedOver = z
  .object({
    storyId: Id,
    key: z.string(),
    reasons: z.array(z.enum(passedOverReasons)),
    witness: z
      .string()
      .nullable()
      .describe(
        'With the reason conflict: a path that both have in common; null if it takes too long to find',
      ),
    with: ConflictingWork.nullable().describe('With the reason conflict: the work or lock of others'),
  })
  .meta({ id: 'PassedOver' });
export type PassedOver = z.infer<typeof PassedOver>;

export const Readiness = z
  .object({
    canStart: z.boolean(),
    reasons: z.array(z.enum(obstacleNames)).describe('Why the story cannot be started; empty if it can'),
    openBlockers: z
      .array(z.object({ id: Id, key: z.string(), title: z.string(), status: StoryStatus }))
      .describe('The stories that this one waits for'),
  })
  .meta({ id: 'Readiness' });
export type Readiness = z.infer<typeof Readiness>;

/**
 * The sections by name. A section that was not requested, or for which there was no room, is null or has no
 * items.
 */
const contextSectionsSchema = z.object({
  story: Story.nullable(),
  epic: Epic.nullable(),
  spec: Spec.nullable().describe(
    'May be cut at the end; then truncated names it. contentHash is of the full text',
  ),
  openThreads: z.array(OpenThread).nullable().describe('Oldest first'),
  rework: Rework.extend({ openThreads: z.array(OpenThread).describe('Oldest first') })
    .meta({ id: 'ReworkContext' })
    .nullable()
    .describe('The changes that a reviewer requested; null if none are requested'),
  reviewers: z.array(Reviewer).nullable(),
  assignment: Assignment.nullable(),
  execution: Execution.nullable().describe('The execution of the story: current or most recent work'),
  deliveryGroup: Group.nullable().describe('The open delivery group that contains the story'),
  locks: z
    .array(Lock)
    .nullable()
    .describe('Live locks of the project: those taken for this story first, then the oldest'),
  collisions: z
    .array(Collision)
    .nullable()
    .describe(
      'Conflicts with others: files of the last checkpoint that others touch or lock, and files that others touch although they are locked for this work',
    ),
  touches: StoryTouches.nullable().describe(
    'The files of the last checkpoint compared with touches of the story. outside and untouched are empty without either; null if the patterns take too long to compare',
  ),
  prompts: z
    .array(Prompt)
    .nullable()
    .describe("The project's prompts, and the organization's where the project has none of its own"),
  contracts: z
    .array(Contract)
    .nullable()
    .describe('The newest contract versions; those of the story first, then those of the project'),
  policy: PolicyRecord.nullable(),
  recentActivity: z.array(ActivityItem).nullable().describe('The newest 20 entries for the story'),
  others: z
    .array(z.object({ member: MemberRef, since: Time }))
    .nullable()
    .describe('Who else is viewing the story now'),
  readiness: Readiness.nullable(),
});
export type ContextSections = z.infer<typeof contextSectionsSchema>;
export type ContextSection = keyof ContextSections;
export const contextSections = Object.keys(contextSectionsSchema.shape) as [
  ContextSection,
  ...ContextSection[],
];

export const StoryContext = contextSectionsSchema.extend({
  truncated: z.array(z.enum(contextSections)).describe('The sections that were cut or left out'),
});
export type StoryContext = z.infer<typeof StoryContext>;

/**
 * The smallest size limit that a caller can set for the context of a story. An answer with all sections empty
 * still fits.
 */
export const minContextBytes = 4 * 1024;
export const maxContextBytes = 4 * 1024 * 1024;
