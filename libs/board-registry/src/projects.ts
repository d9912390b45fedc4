import { z } from 'zod';
import {
  org,
  project,
  bulkBodyLimitBytes,
  surfacesWithoutTool,
  operation,
  maxPageSize,
  maxSmallItemsPageSize,
  pageParams,
  pageSchemaOf,
  Day,
  Deleted,
  ExpectedVersion,
  Id,
  Instant,
  nameText,
  ProjectRef,
  multilineText,
  SearchText,
  boundedText,
  BoardColumn,
  EpicDescription,
  EpicTitle,
  NewColumn,
  Project,
  ProjectKey,
  Repository,
  StoryStatus,
  Visibility,
  StoryCard,
  HealthFigures,
  HealthWeek,
  Estimate,
  Labels,
  Priority,
  SpecContent,
  StoryDescription,
  StoryTitle,
  Touches,
} from '@muster/contract';
import { projectAccess } from './projects-access.ts';

const ProjectName = nameText(120);
const ProjectDescription = multilineText(20_000);
const Columns = z
  .array(NewColumn)
  .min(1)
  .max(50)
  .refine(
    (columns) => ['backlog', 'done'].every((status) => columns.some((column) => column.status === status)),
    'needs a column with status backlog and one with status done',
  );
const LocalId = boundedText(200, 1);
const maxHealthSpanMillis = 366 * 24 * 60 * 60 * 1000;

export const projects = {
  create: operation({
    name: 'projects.create',
    effect: 'write',
    summary: 'Create a project with its board',
    keywords: 'new board repository set up',
    description:
      'The creator becomes its lead. Without columns the board gets Backlog, Ready, In progress, In review and Done. The key is the prefix of its story keys and cannot be changed.',
    access: org('member'),
    params: z.strictObject({
      key: ProjectKey,
      name: ProjectName,
      description: ProjectDescription.optional(),
      visibility: Visibility.default('org'),
      repository: Repository.optional(),
      columns: Columns.optional(),
    }),
    result: z.object({ project: Project, columns: z.array(BoardColumn) }),
    refusals: ['already_exists', 'limit_exceeded'],
    emits: ['project.created'],
    example: { key: 'APP', name: 'Mobile app' },
  }),
  get: operation({
    name: 'projects.get',
    effect: 'read',
    summary: 'Get a project with its columns and counts',
    keywords: 'board columns overview status counts details show',
    description:
      'The project, its active columns in board order, and the number of stories with each status.',
    access: project('viewer'),
    params: z.strictObject({ projectId: ProjectRef }),
    result: z.object({
      project: Project,
      columns: z.array(BoardColumn),
      counts: z.record(StoryStatus, z.int()),
    }),
    example: { projectId: 'WEB' },
  }),
  list: operation({
    name: 'projects.list',
    effect: 'read',
    summary: 'List the projects you may see',
    keywords: 'boards which what my projects are there repositories',
    description: 'Sorted by key, with your role in each. Archived projects only with includeArchived.',
    access: org('viewer'),
    params: z.strictObject({
      includeArchived: z.boolean().default(false),
      query: SearchText.optional(),
      ...pageParams,
    }),
    result: pageSchemaOf(Project),
    example: { limit: 20 },
  }),
  deliveryHealth: operation({
    name: 'projects.deliveryHealth',
    effect: 'read',
    summary: 'Show delivery statistics of a project, by week',
    keywords:
      'metrics statistics lead time cycle time throughput rework stalled waiting percentiles report chart dora',
    description:
      'Computed from the activity of the project from `from` (inclusive) to `before` (exclusive), at most 366 days. weeks has every ISO week in the range, including empty ones; totals cover the whole range. Durations are in whole seconds.',
    access: project('viewer'),
    params: z
      .strictObject({ projectId: ProjectRef, from: Instant, to: Instant })
      .refine(({ from, to }) => Date.parse(from) < Date.parse(to), {
        error: 'must be after from',
        path: ['to'],
      })
      .refine(({ from, to }) => Date.parse(to) - Date.parse(from) <= maxHealthSpanMillis, {
        error: 'is more than 366 days after from',
        path: ['to'],
      }),
    result: z.object({ weeks: z.array(HealthWeek), totals: HealthFigures }),
    surfaces: surfacesWithoutTool,
    example: { projectId: 'WEB', from: '2026-11-02T00:00:00.000Z', to: '2026-11-30T00:00:00.000Z' },
  }),
  waves: operation({
    name: 'projects.waves',
    effect: 'read',
    summary: 'Show which open stories can run at the same time, and which come next',
    keywords: 'parallel order dependencies blocked critical path schedule next graph plan',
    description:
      'Stories of wave 0 wait for no open story; those of each later wave wait for one of the wave before. A parent comes after its children. criticalPath is the longest chain by estimate, where a missing estimate counts as 1. blocked counts the stories that wait for an open story. Waves are not paged: stories beyond limit are left out, and count says how many stories a wave has.',
    access: project('viewer'),
    params: z.strictObject({
      projectId: ProjectRef,
      epicId: Id.optional(),
      planId: Id.optional(),
      limit: z
        .int()
        .min(1)
        .max(maxSmallItemsPageSize)
        .default(maxPageSize)
        .meta({ description: 'The maximum number of stories in all waves' }),
    }),
    result: z.object({
      waves: z.array(z.object({ index: z.int(), count: z.int(), stories: z.array(StoryCard) })),
      criticalPath: z.array(z.string()).describe('The keys of its stories, in the order of work'),
      blocked: z.int(),
    }),
    example: { projectId: 'WEB' },
  }),
  update: operation({
    name: 'projects.update',
    effect: 'write',
    idempotent: true,
    summary: 'Change, archive or restore a project',
    keywords: 'rename archive unarchive restore settings visibility private',
    description:
      'Omitted fields keep their values; null clears description and repository. An archived project is read-only until it is restored. If a project without a lead is made private, the caller becomes its lead.',
    access: project('lead'),
    params: z.strictObject({
      projectId: ProjectRef,
      name: ProjectName.optional(),
      description: ProjectDescription.nullable().optional(),
      visibility: Visibility.optional(),
      repository: Repository.nullable().optional(),
      archived: z.boolean().optional(),
      expectedVersion: ExpectedVersion,
    }),
    result: z.object({ project: Project }),
    refusals: ['version_mismatch', 'archived'],
    emits: ['project.updated', 'project.archived', 'project.unarchived', 'project.memberAdded'],
    reachesArchived: true,
    example: { projectId: 'WEB', description: 'The public web site' },
  }),
  delete: operation({
    name: 'projects.delete',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Delete a project and everything in it',
    keywords: 'remove erase board repository for good',
    description:
      "This cannot be undone. confirmKey must repeat the project's key, to prevent accidental deletion.",
    access: org('admin'),
    params: z.strictObject({ projectId: ProjectRef, confirmKey: boundedText(10, 1) }),
    result: Deleted,
    refusals: ['confirmation_mismatch'],
    emits: ['project.deleted'],
    auditsRefusal: true,
    example: { projectId: 'OLD', confirmKey: 'OLD' },
  }),
  convertLocal: operation({
    name: 'projects.convertLocal',
    effect: 'write',
    idempotent: true,
    summary: 'Import a local board as a project',
    keywords: 'import migrate upload board',
    description:
      'Either everything is imported, or nothing. Up to 2,000 stories with epics and specs in one call. Stories go to the first column with their status, in the given order. Repeating the call with the same localProjectId returns the same result and creates nothing.',
    access: org('member'),
    params: z.strictObject({
      localProjectId: LocalId,
      key: ProjectKey,
      name: ProjectName,
      description: ProjectDescription.optional(),
      columns: Columns.optional(),
      epics: z
        .array(
          z.strictObject({
            localId: LocalId,
            title: EpicTitle,
            description: EpicDescription.optional(),
            status: z.enum(['open', 'done', 'canceled']).default('open'),
          }),
        )
        .max(500)
        .default([]),
      stories: z
        .array(
          z.strictObject({
            localId: LocalId,
            title: StoryTitle,
            description: StoryDescription.optional(),
            status: StoryStatus.default('backlog'),
            epicLocalId: LocalId.optional(),
            priority: Priority.default('none'),
            labels: Labels.default([]),
            estimate: Estimate.optional(),
            dueDate: Day.optional(),
            touches: Touches.default([]),
            parentLocalId: LocalId.optional(),
            spec: SpecContent.optional(),
          }),
        )
        .max(2000)
        .default([]),
    }),
    result: z.object({
      project: Project,
      mapping: z.object({ epics: z.record(z.string(), Id), stories: z.record(z.string(), Id) }),
    }),
    refusals: ['already_exists', 'limit_exceeded'],
    emits: ['project.converted'],
    bodyLimit: bulkBodyLimitBytes,
    example: {
      localProjectId: 'laptop-1/tools',
      key: 'TOOLS',
      name: 'Tools',
      epics: [{ localId: 'e1', title: 'Setup' }],
      stories: [{ localId: 's1', title: 'Install script', status: 'ready', epicLocalId: 'e1' }],
    },
  }),
  ...projectAccess,
};
