/** Compares the items of a plan with the stories on the board, for the preview of a plan. */
import { type StoryPlanChange, type StoryPlanItem, type StorySummary } from '@muster/contract';
import { formatDay, t } from '../messages/index.ts';
import { planTexts } from '../messages/plans.ts';

/** A value on the board and in the plan, in words. Null stands for an empty value. */
export interface FieldDiff {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
  /** The reason why the board keeps its value. */
  readonly keptBecause?: string;
}

/** The names of records by id or ref. */
export interface PlanNames {
  readonly stories: ReadonlyMap<string, string>;
  readonly epics: ReadonlyMap<string, string>;
}

/** Long texts, which are compared word by word on demand. */
export const isLongText = (field: string): field is 'description' | 'spec' =>
  field === 'description' || field === 'spec';

const joinOrNull = (values: readonly string[]): string | null =>
  values.length === 0 ? null : values.join(', ');
const nameIn = (names: ReadonlyMap<string, string>, id: string | null | undefined): string | null =>
  id == null ? null : (names.get(id) ?? id);

type Describe<T> = (record: T, names: PlanNames) => string | null;
interface FieldWords {
  readonly board: Describe<StorySummary>;
  readonly plan: Describe<StoryPlanItem>;
}

const fieldWords: Readonly<Record<string, FieldWords>> = {
  title: { board: ({ title }) => title, plan: ({ title }) => title },
  status: {
    board: ({ status }) => t.status[status],
    plan: ({ status }) => (status === undefined ? null : t.status[status]),
  },
  epicRef: {
    board: ({ epicId }, { epics }) => nameIn(epics, epicId),
    plan: ({ epicRef }, { epics }) => nameIn(epics, epicRef),
  },
  parentRef: {
    board: ({ parentId }, { stories }) => nameIn(stories, parentId),
    plan: ({ parentRef }) => parentRef ?? null,
  },
  dependsOn: {
    board: ({ blockedBy }, { stories }) => joinOrNull(blockedBy.map((id) => stories.get(id) ?? id).sort()),
    plan: ({ dependsOn = [] }) => joinOrNull(dependsOn.toSorted()),
  },
  touches: {
    board: ({ touches }) => joinOrNull(touches),
    plan: ({ touches = [] }) => joinOrNull(touches),
  },
  estimate: {
    board: ({ estimate }) => estimate?.toLocaleString() ?? null,
    plan: ({ estimate }) => estimate?.toLocaleString() ?? null,
  },
  priority: {
    board: ({ priority }) => t.priority[priority],
    plan: ({ priority = 'none' }) => t.priority[priority],
  },
  labels: {
    board: ({ labels }) => joinOrNull(labels),
    plan: ({ labels = [] }) => joinOrNull(labels),
  },
  dueDate: {
    board: ({ dueDate }) => (dueDate === null ? null : formatDay(dueDate)),
    plan: ({ dueDate }) => (dueDate == null ? null : formatDay(dueDate)),
  },
};

/** Lists the fields that a change writes, then those that it keeps, each with both values. */
export function describeChange(
  { fields, kept }: Pick<StoryPlanChange, 'fields' | 'kept'>,
  item: StoryPlanItem | undefined,
  story: StorySummary | undefined,
  names: PlanNames,
): FieldDiff[] {
  const diffOf = (field: string): FieldDiff => {
    const words = fieldWords[field];
    return {
      field,
      before: story === undefined || words === undefined ? null : words.board(story, names),
      after: item === undefined || words === undefined ? null : words.plan(item, names),
    };
  };
  return [
    ...fields.map(diffOf),
    ...kept.map(({ field, message }) => ({ ...diffOf(field), keptBecause: message })),
  ];
}

/** Summarizes changes, such as "3 created, 12 unchanged". */
export function summarizeChanges(changes: readonly Pick<StoryPlanChange, 'action'>[]): string {
  const { counts } = planTexts.diff;
  return (Object.keys(counts) as StoryPlanChange['action'][])
    .flatMap((action) => {
      const count = changes.filter((change) => change.action === action).length;
      return count === 0 ? [] : [counts[action](count)];
    })
    .join(', ');
}
