/** Saved views: a layout of stories with filters, an order and groups. */
import { z } from 'zod';
import { boundedText, Day, Id, nameText, recordStamps, SearchText, StoryRef } from '../kernel/values.ts';
import { MemberRef } from './member.ts';
import { StoryStatus } from './project.ts';
import { Label, Priority } from './story.ts';

export const ViewName = nameText(120);
export const ViewLayout = z
  .enum(['board', 'list', 'table', 'timeline'])
  .meta({ description: 'How the stories are arranged' });

/** A member or agent, stored as the caller wrote it. */
const StoredPerson = boundedText(41, 1);

const maxAlternatives = 50;
/** The value or the values of a filter. A story matches if it has one of them. */
const valueOrList = <Value extends z.ZodType>(value: Value) =>
  z.union([value, z.array(value).min(1).max(maxAlternatives)]);

export const viewStates = ['start', 'live', 'waiting', 'rework', 'blocked', 'overdue', 'dueSoon'] as const;

/** Filters of stories.list and stories.search, with alternatives and states. */
const FilterParams = z.strictObject({
  status: z.union([StoryStatus, z.array(StoryStatus).min(1).max(6)]).optional(),
  columnId: Id.optional(),
  epicId: Id.optional(),
  parentId: StoryRef.optional(),
  assigneeId: valueOrList(StoredPerson).optional().meta({
    description:
      'Member ids or handles, or agent ids; me is the member who opens the view, none matches unassigned stories',
  }),
  agentId: StoredPerson.optional().meta({ description: 'Id or slug' }),
  label: valueOrList(Label).optional(),
  priority: z.union([Priority, z.array(Priority).min(1).max(5)]).optional(),
  state: z.array(z.enum(viewStates)).min(1).max(viewStates.length).optional().meta({
    description:
      'Stories in one of these states: start (work can start), live (worked on now), waiting (for an answer), rework, blocked, overdue, dueSoon (within 7 days)',
  }),
  query: SearchText.optional(),
  dueBefore: Day.optional().meta({ description: 'Only stories due before this day' }),
  hasOpenBlockers: z
    .boolean()
    .optional()
    .meta({ description: 'Whether stories that are not finished block it' }),
});
export type ViewFilter = z.output<typeof FilterParams>;
export const ViewFilter = FilterParams.meta({ description: 'Which stories it shows; all by default' });
export const ViewGroup = z
  .enum(['status', 'epic', 'assignee', 'agent', 'priority', 'label', 'parent', 'project'])
  .nullable()
  .meta({ description: 'The field by which stories are grouped' });
export const ViewSort = z.enum(['board', 'updated', 'created', 'dueDate', 'priority']);
export const ViewColumns = z
  .array(nameText(40))
  .max(30)
  .refine((names) => new Set(names).size === names.length, 'must be unique')
  .meta({
    description: 'The fields that a table shows, in this order; an empty list means the default ones',
  });

export const ViewShared = z
  .boolean()
  .meta({ description: 'Whether all who may see the project see the view' });

export const View = z
  .object({
    id: Id,
    projectId: Id.nullable().describe('null if the view shows stories of all projects'),
    owner: MemberRef,
    name: z.string(),
    layout: ViewLayout,
    filter: z.record(z.string(), z.unknown()).describe('As views.create and views.update take it'),
    groupBy: ViewGroup,
    sort: ViewSort,
    columns: z.array(z.string()),
    shared: ViewShared,
    ...recordStamps,
  })
  .meta({ id: 'View' });
export type View = z.infer<typeof View>;
