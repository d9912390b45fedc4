/** The operations on stories of several projects. */
import { z } from 'zod';
import {
  org,
  project,
  operation,
  pageParams,
  pageSchemaOf,
  AgentParam,
  Day,
  Id,
  Instant,
  isUuid,
  MemberParam,
  SearchText,
  StoryRef,
  Version,
  StoryCard,
  StoryStatus,
  BulkStoryResult,
  Label,
  Labels,
  Priority,
} from '@muster/contract';

const maxBulkStories = 200;

/** The fields that an update of several stories can set. */
const BulkStoryChange = z
  .strictObject({
    columnId: Id.optional(),
    status: StoryStatus.optional(),
    priority: Priority.nullable().optional(),
    epicId: Id.nullable().optional(),
    assigneeId: MemberParam.nullable().optional(),
    agentId: AgentParam.nullable().optional(),
    addLabels: Labels.optional().meta({ description: 'Labels to add, at most 20; case does not matter' }),
    removeLabels: Labels.optional().meta({ description: 'Labels to remove; labels to add stay' }),
    dueDate: Day.nullable().optional(),
  })
  .refine((fields) => Object.values(fields).some((value) => value !== undefined), {
    error: 'must name at least one field',
  });

/** The versions that the caller read, by story. */
const StoryVersions = z.record(StoryRef, Version).optional();

const bulkEvents = [
  ...(['story.updated', 'story.statusChanged', 'story.reordered', 'story.unblocked'] as const),
  ...(['execution.completed', 'assignment.changed', 'assignment.cleared'] as const),
] as const;

/**
 * The part of stories.updateMany that changes one story, in a transaction of its own. It is called on no surface. It
 * has the name of the whole operation, which the audit log shows.
 */
export const updateOneOfMany = operation({
  name: 'stories.updateMany',
  effect: 'write',
  idempotent: true,
  summary: 'Change one of several stories',
  description: 'Moves the story first, then changes its fields, and then its assignees.',
  access: project('contributor'),
  params: z.strictObject({ storyId: StoryRef, set: BulkStoryChange, expectedVersions: StoryVersions }),
  result: z.object({ story: BulkStoryResult }),
  refusals: ['version_mismatch', 'archived', 'limit_exceeded'],
  emits: bulkEvents,
  example: { storyId: 'WEB-1', set: { priority: 'high' } },
});

export const bulkStories = {
  updateMany: operation({
    name: 'stories.updateMany',
    effect: 'write',
    idempotent: true,
    summary: 'Apply one edit to many stories',
    keywords: 'bulk batch multiple many all these tickets issues tasks cards selected at once mass edit',
    description:
      'Makes the same change to up to 200 stories, in the order of storyIds. Each story is its own transaction and needs the role of contributor in its project. A story that cannot be changed is refused with the reason of stories.updateStatus, stories.update or assignments.set, and the others are changed nevertheless. A change of status passes the same gates as stories.updateStatus. After an interruption, the same call with its Idempotency-Key continues where it stopped.',
    access: org('member'),
    params: z
      .strictObject({
        storyIds: z.array(StoryRef).min(1).max(maxBulkStories),
        set: BulkStoryChange,
        expectedVersions: StoryVersions.meta({
          description: 'The versions that you read, by the id of the story or its name in storyIds',
        }),
      })
      .refine(
        ({ storyIds, expectedVersions = {} }) =>
          Object.keys(expectedVersions).every(
            (ref) => storyIds.includes(ref) || (isUuid(ref) && !storyIds.every(isUuid)),
          ),
        { error: 'must name only stories of storyIds', path: ['expectedVersions'] },
      ),
    result: z.object({ results: z.array(BulkStoryResult) }),
    emits: bulkEvents,
    staysInProjects: true,
    example: { storyIds: ['WEB-1'], set: { priority: 'high', addLabels: ['auth'] } },
  }),
  search: operation({
    name: 'stories.search',
    effect: 'read',
    summary: 'List stories of all projects by their fields',
    keywords:
      'my stories every project overdue due soon deadline blocked cross-project filter across children',
    description:
      'Only in projects that you may see and that are not archived. Filters are combined with AND. By last change or creation, newest first, or by due date, earliest first, without stories that have none. A page examines 1,000 stories, so it may have few or no items and still a nextCursor.',
    access: org('viewer'),
    params: z.strictObject({
      status: z.union([StoryStatus, z.array(StoryStatus).min(1).max(6)]).optional(),
      columnId: Id.optional(),
      epicId: Id.optional(),
      parentId: StoryRef.optional().meta({ description: 'Only the children of this story, by id or key' }),
      assigneeId: MemberParam.optional().meta({ description: 'Id or handle; me is the caller' }),
      agentId: AgentParam.optional(),
      label: Label.optional(),
      query: SearchText.optional(),
      storyIds: z.array(Id).min(1).max(200).optional().meta({ description: 'Only these stories' }),
      dueBefore: Day.optional().meta({ description: 'Only stories due before this day' }),
      hasOpenBlockers: z
        .boolean()
        .optional()
        .meta({ description: 'Whether stories that are not finished block it' }),
      updatedSince: Instant.optional().meta({ description: 'Only stories changed at or after this time' }),
      sort: z.enum(['updated', 'created', 'dueDate']).default('updated'),
      ...pageParams,
    }),
    result: pageSchemaOf(StoryCard),
    example: { status: ['ready', 'in_progress'], sort: 'updated' },
  }),
};
