import { z } from 'zod';
import { projectRoles } from '../kernel/access.ts';
import { Day, Id, nameText, multilineText, RepositoryUrl, recordStamps, Time } from '../kernel/values.ts';

export const storyStatuses = ['backlog', 'ready', 'in_progress', 'in_review', 'done', 'canceled'] as const;
export const StoryStatus = z.enum(storyStatuses).meta({ id: 'StoryStatus' });
export type StoryStatus = z.infer<typeof StoryStatus>;
/**
 * Returns true if work on a story of this status begins with a move. In later statuses it continues without
 * one.
 */
export const isBeforeWork = (status: string): boolean => status === 'backlog' || status === 'ready';

/**
 * Returns true if the start of work moves a story of this status to in_progress: its work has not begun, or
 * it was sent back.
 */
export const movesToStart = (status: string, isSentBack = false): boolean =>
  isBeforeWork(status) || (isSentBack && status === 'in_review');

/** The statuses that a column can have. `canceled` has no column, because a canceled story leaves the board. */
export const ColumnStatus = z.enum(['backlog', 'ready', 'in_progress', 'in_review', 'done']);
export type ColumnStatus = z.infer<typeof ColumnStatus>;

export const ProjectKey = z
  .string()
  .regex(/^[A-Z][A-Z0-9]{1,9}$/, 'must be 2 to 10 characters: A-Z and 0-9, beginning with a letter')
  .meta({ description: 'The prefix of its story keys, such as WEB' });

export const Visibility = z.enum(['org', 'private']);

/** The repository with the project's code. */
export const Repository = z.strictObject({
  provider: z.enum(['github', 'gitlab', 'gitea', 'forgejo', 'bitbucket', 'other']),
  url: RepositoryUrl,
  defaultBranch: nameText(255).default('main'),
});

export const Project = z
  .object({
    id: Id,
    key: ProjectKey,
    name: z.string(),
    description: z.string().nullable(),
    visibility: Visibility,
    repository: z.object({ provider: z.string(), url: z.string(), defaultBranch: z.string() }).nullable(),
    origin: z.enum(['hosted', 'converted']),
    archivedAt: Time.nullable(),
    myRole: z.enum(projectRoles),
    ...recordStamps,
  })
  .meta({ id: 'Project' });
export type Project = z.infer<typeof Project>;

/** A project as a reference inside another record. */
export const ProjectSummary = z.object({ id: Id, key: ProjectKey, name: z.string() });

export const ColumnName = nameText(80);
export const WipLimit = z.int().min(1).max(10_000);

export const BoardColumn = z
  .object({
    id: Id,
    projectId: Id,
    name: z.string(),
    status: ColumnStatus,
    position: z.int().min(0).describe('0 is the leftmost column'),
    wipLimit: z.int().nullable(),
    archivedAt: Time.nullable(),
    ...recordStamps,
  })
  .meta({ id: 'BoardColumn' });
export type BoardColumn = z.infer<typeof BoardColumn>;

export const NewColumn = z.strictObject({
  name: ColumnName,
  status: ColumnStatus,
  wipLimit: WipLimit.optional(),
});

export const Color = z.string().regex(/^#[0-9a-f]{6}$/, 'must be a color such as #3366cc');
export const EpicTitle = nameText(300);
export const EpicDescription = multilineText(20_000);

export const Epic = z
  .object({
    id: Id,
    projectId: Id,
    title: z.string(),
    description: z.string().nullable(),
    color: z.string().nullable(),
    targetDate: Day.nullable(),
    status: z.enum(['open', 'done', 'canceled']),
    progress: z.object({ total: z.int(), done: z.int() }),
    ...recordStamps,
  })
  .meta({ id: 'Epic' });
export type Epic = z.infer<typeof Epic>;
