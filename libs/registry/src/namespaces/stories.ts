import { z } from 'zod';
import { project } from '../kernel/access.ts';
import { operation, surfacesWithoutTool } from '../kernel/operation.ts';
import {
  defaultPageSize,
  maxPageSize,
  maxSmallItemsPageSize,
  pageParams,
  pageSchemaOf,
} from '../kernel/pagination.ts';
import {
  AgentParam,
  Day,
  Deleted,
  ExpectedVersion,
  Id,
  Instant,
  MemberParam,
  ProjectRef,
  SearchText,
  StoryRef,
  boundedText,
  textWithinBytes,
  Time,
} from '../kernel/values.ts';
import { StoryCard } from '../records/card.ts';
import { MemberRef } from '../records/member.ts';
import { StoryStatus } from '../records/project.ts';
import {
  Blocked,
  DeletedStory,
  BlockedBy,
  Estimate,
  GitMeta,
  Label,
  Labels,
  maxRelatedStories,
  ParentRef,
  Priority,
  Story,
  StoryDescription,
  StoryLink,
  StorySummary,
  StoryTitle,
  Touches,
  UpstreamInput,
  Warning,
} from '../records/story.ts';
import { bulkStories } from './stories-bulk.ts';

const StoryAndWarnings = z.object({ story: Story, warnings: z.array(Warning) });

/**
 * The first spec in the call that creates a story. Its limit respects the general body limit;
 * storySpec.update accepts longer specs.
 */
const FirstSpec = textWithinBytes(192 * 1024).meta({
  maxLength: 192 * 1024,
  description: 'The first version of its spec, at most 192 KiB; storySpec.update accepts 256 KiB',
});

export const stories = {
  create: operation({
    name: 'stories.create',
    effect: 'write',
    summary: 'Create a story',
    keywords: 'new ticket issue task bug card open file report add subtask sub-issue child due deadline',
    description:
      'Added to the end of columnId, otherwise of the first column with status, otherwise of the first backlog column. Story numbers of a project are consecutive. A story with a parent cannot have children.',
    access: project('contributor'),
    params: z
      .strictObject({
        projectId: ProjectRef,
        title: StoryTitle,
        description: StoryDescription.optional(),
        epicId: Id.optional(),
        parentId: ParentRef.optional(),
        columnId: Id.optional(),
        status: StoryStatus.optional(),
        priority: Priority.default('none'),
        labels: Labels.default([]),
        estimate: Estimate.optional(),
        dueDate: Day.optional(),
        blockedBy: BlockedBy.default([]),
        touches: Touches.default([]),
        spec: FirstSpec.optional(),
      })
      .refine((params) => params.columnId === undefined || params.status === undefined, {
        error: 'give columnId or status, not both',
        path: ['status'],
      }),
    result: z.object({ story: Story }),
    refusals: [
      'archived',
      'mismatched_project',
      'policy',
      'wip_limit',
      'invalid_transition',
      'blocking_circle',
      'nested_parent',
    ],
    emits: ['story.created', 'spec.updated'],
    example: { projectId: 'WEB', title: 'Sign in with a passkey', priority: 'high', labels: ['auth'] },
  }),
  get: operation({
    name: 'stories.get',
    effect: 'read',
    summary: 'Get a story',
    keywords: 'show read ticket issue task card details look up',
    description:
      'By id or key, with the response of an agent that was asked to work on it. storySpec.get returns the text of its spec.',
    access: project('viewer'),
    params: z.strictObject({ storyId: StoryRef }),
    result: z.object({
      story: Story,
      agentResponse: StoryCard.shape.agentResponse,
      parent: StoryLink.nullable(),
      children: z.array(StoryLink).describe(`At most ${maxRelatedStories}; stories.list has all`),
      blockedBy: z.array(StoryLink).describe('The stories that it waits for'),
      blocks: z.array(StoryLink).describe(`The stories that wait for it, at most ${maxRelatedStories}`),
      subscribed: z.boolean().nullable().describe('Your choice by stories.subscribe; null without one'),
    }),
    example: { storyId: 'WEB-1' },
  }),
  list: operation({
    name: 'stories.list',
    effect: 'read',
    summary: 'List the stories of a project',
    keywords:
      'find search tickets issues tasks cards backlog ready next to do my open work board what should i',
    description:
      'In board order (by column, canceled stories last), or by creation or last change, newest first. Items contain everything except the description; cards contain what a board shows, including who is working on the story. Filters are combined with AND. With query or label a page examines 5,000 stories, so it may have few or no items and still a nextCursor.',
    access: project('viewer'),
    params: z
      .strictObject({
        projectId: ProjectRef,
        columnId: Id.optional(),
        status: z.union([StoryStatus, z.array(StoryStatus).min(1).max(6)]).optional(),
        epicId: Id.optional(),
        parentId: StoryRef.meta({ description: 'Only children of this story, by id or key' }).optional(),
        assigneeId: MemberParam.optional(),
        agentId: AgentParam.optional(),
        label: Label.optional(),
        query: SearchText.optional(),
        storyIds: z.array(StoryRef).min(1).max(200).optional().meta({ description: 'Only these stories' }),
        updatedSince: Instant.optional().meta({
          description:
            'Only stories changed at or after this time. A change has the time its transaction started, and may become visible later; to synchronize, ask again from 10 s before the newest updatedAt',
        }),
        sort: z.enum(['board', 'updated', 'created']).default('board'),
        view: z.enum(['summary', 'card']).default('summary'),
        ...pageParams,
        limit: z
          .int()
          .min(1)
          .max(maxSmallItemsPageSize)
          .default(defaultPageSize)
          .meta({ description: `Items on a page, at most ${maxPageSize} where they are no cards` }),
      })
      .refine(({ view, limit }) => view === 'card' || limit <= maxPageSize, {
        error: `must be at most ${maxPageSize}, unless view is card`,
        path: ['limit'],
      }),
    result: pageSchemaOf(z.union([StorySummary, StoryCard])),
    example: { projectId: 'WEB', status: ['ready', 'in_progress'] },
  }),
  update: operation({
    name: 'stories.update',
    effect: 'write',
    idempotent: true,
    summary: 'Change a story',
    keywords:
      'edit rename ticket issue task priority labels label tag estimate points description title block unblock blocked depends dependency needs waits until another finished first parent subtask due deadline files',
    description:
      'Omitted fields keep their values; null clears all except the title. blockedBy and touches replace the lists. blockedBy must not create a cycle, a parent waits for its children, and parents are one level deep.',
    access: project('contributor'),
    params: z.strictObject({
      storyId: StoryRef,
      title: StoryTitle.optional(),
      description: StoryDescription.nullable().optional(),
      epicId: Id.nullable().optional(),
      parentId: ParentRef.nullable().optional(),
      priority: Priority.nullable().optional(),
      labels: Labels.nullable().optional(),
      estimate: Estimate.nullable().optional(),
      dueDate: Day.nullable().optional(),
      blockedBy: BlockedBy.nullable().optional(),
      touches: Touches.nullable().optional(),
      blocked: Blocked.nullable().optional(),
      expectedVersion: ExpectedVersion,
    }),
    result: z.object({ story: Story }),
    refusals: [
      'version_mismatch',
      'archived',
      'mismatched_project',
      'blocking_circle',
      'nested_parent',
      'has_children',
      'no_role_in_project',
    ],
    emits: [
      ...(['story.updated', 'story.statusChanged', 'story.reordered'] as const),
      ...(['execution.completed', 'story.unblocked'] as const),
    ],
    example: { storyId: 'WEB-1', priority: 'urgent' },
  }),
  updateStatus: operation({
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
    result: StoryAndWarnings,
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
  }),
  reorder: operation({
    name: 'stories.reorder',
    effect: 'write',
    idempotent: true,
    summary: 'Move a story to a position in a column',
    keywords: 'rank prioritize top order ticket card column drag',
    description:
      "Places it right before or after another story, in that story's column; otherwise at the end of the column. Moving to a column with another status is a status change, with the same rules.",
    access: project('contributor'),
    params: z
      .strictObject({
        storyId: StoryRef,
        columnId: Id.optional(),
        beforeStoryId: StoryRef.optional(),
        afterStoryId: StoryRef.optional(),
        expectedVersion: ExpectedVersion,
      })
      .refine((params) => params.beforeStoryId === undefined || params.afterStoryId === undefined, {
        error: 'give beforeStoryId or afterStoryId, not both',
        path: ['afterStoryId'],
      }),
    result: StoryAndWarnings,
    refusals: [
      'invalid_transition',
      'policy',
      'wip_limit',
      'version_mismatch',
      'archived',
      'mismatched_project',
    ],
    emits: ['story.reordered', 'story.statusChanged', 'execution.completed', 'story.unblocked'],
    example: { storyId: 'WEB-1', beforeStoryId: 'WEB-2' },
  }),
  select: operation({
    name: 'stories.select',
    effect: 'write',
    idempotent: true,
    summary: 'Report which story you are viewing',
    keywords: 'viewing presence open focus who else looks here now',
    description:
      'Replaces the story that the caller viewed before (on the same device, if deviceId is given); null means none. Returns who else is viewing the same story. It expires after 15 minutes.',
    access: project('viewer'),
    params: z.strictObject({ storyId: StoryRef.nullable(), deviceId: boundedText(128, 1).optional() }),
    result: z.object({
      selection: z.object({ storyId: Id.nullable(), since: Time.nullable() }),
      others: z.array(z.object({ member: MemberRef, since: Time })),
    }),
    reachesArchived: true,
    example: { storyId: 'WEB-1' },
  }),
  updateGitMeta: operation({
    name: 'stories.updateGitMeta',
    effect: 'write',
    idempotent: true,
    summary: "Record the state of a story's branch and pull request",
    keywords: 'attach link pull request branch commit pr ci checks ticket',
    description:
      'Only the given fields change: an omitted field keeps its value, null clears it. The URL of a pull request at a connected forge is stored in its canonical form.',
    access: project('contributor'),
    params: z.strictObject({ storyId: StoryRef, git: GitMeta }),
    result: z.object({ story: Story }),
    refusals: ['archived', 'invalid_pull_request'],
    emits: ['story.gitMetaUpdated'],
    example: { storyId: 'WEB-1', git: { branch: 'web-1-passkey', checks: 'passing' } },
  }),
  updateUpstream: operation({
    name: 'stories.updateUpstream',
    effect: 'write',
    idempotent: true,
    summary: 'Link a story to the record of another tracker',
    keywords: 'jira linear github issue link external sync ticket',
    description:
      'Each provider and externalId can be linked to one story of a project; null removes the link.',
    access: project('contributor'),
    params: z.strictObject({ storyId: StoryRef, upstream: UpstreamInput.nullable() }),
    result: z.object({ story: Story }),
    refusals: ['already_exists', 'archived'],
    emits: ['story.upstreamUpdated'],
    example: { storyId: 'WEB-1', upstream: { provider: 'github', externalId: 'acme/web#17' } },
  }),
  subscribe: operation({
    name: 'stories.subscribe',
    effect: 'write',
    idempotent: true,
    summary: 'Follow or mute a story',
    keywords: 'watch unwatch unsubscribe notifications mute ignore follow',
    description:
      'For yourself. With true you are notified of comments, verdicts and changes of its status. With false you only get what is addressed to you: mentions, assignments, review requests, handoffs and what happens to your leases and locks.',
    access: project('viewer'),
    byMemberOnly: true,
    reachesArchived: true,
    surfaces: surfacesWithoutTool,
    params: z.strictObject({
      storyId: StoryRef,
      subscribed: z.boolean().meta({ description: 'true: follow it; false: mute it' }),
    }),
    result: z.object({ subscription: z.object({ storyId: Id, subscribed: z.boolean() }) }),
    example: { storyId: 'WEB-1', subscribed: true },
  }),
  delete: operation({
    name: 'stories.delete',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Delete a story',
    keywords: 'remove throw away discard trash ticket issue task card rid drop',
    description:
      'Deletes its spec, comments and executions too. stories.restore can bring it back for 30 days. Not possible while the story is held under a live lease. Its number is not reused. To only remove it from the board, move it to canceled.',
    access: project('lead'),
    params: z.strictObject({ storyId: StoryRef }),
    result: Deleted,
    refusals: ['archived', 'lease_held'],
    emits: [
      ...(['story.deleted', 'story.updated', 'story.unblocked', 'group.storiesReplaced'] as const),
      ...(['story.statusChanged', 'story.reordered', 'execution.completed'] as const),
    ],
    example: { storyId: 'WEB-1' },
  }),
  restore: operation({
    name: 'stories.restore',
    effect: 'write',
    summary: 'Bring back a deleted story',
    keywords: 'undelete undo recover trash bin deletion',
    description:
      'Within 30 days of its deletion, under its number, with its spec, comments, attachments, reviews, executions and dependencies. It returns to its place on the board; if its column was archived, to the end of the first column with its status, otherwise of the first backlog column. An epic or parent that is gone, dependencies that would close a cycle, points, leases and locks do not come back.',
    access: project('lead'),
    surfaces: surfacesWithoutTool,
    targetsDeleted: true,
    params: z.strictObject({ storyId: StoryRef }),
    result: StoryAndWarnings,
    refusals: ['archived', 'wip_limit', 'already_exists'],
    emits: ['story.restored', 'story.updated'],
    example: { storyId: 'WEB-9' },
  }),
  listDeleted: operation({
    name: 'stories.listDeleted',
    effect: 'read',
    summary: 'List deleted stories',
    keywords: 'trash bin recently removed recover undelete',
    description: 'Those that stories.restore can bring back, the last deleted first.',
    access: project('lead'),
    surfaces: surfacesWithoutTool,
    params: z.strictObject({ projectId: ProjectRef, ...pageParams }),
    result: pageSchemaOf(DeletedStory),
    example: { projectId: 'WEB' },
  }),
  ...bulkStories,
};
