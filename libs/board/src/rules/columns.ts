/** The columns of a board: the defaults, their order, and the ones that a board requires. */
import { type ColumnStatus, type StoryStatus, storyStatuses } from '@muster/contract';

/** The maximum number of active columns on a board. The contract limits its lists to the same number. */
export const maxColumns = 50;

/** A column in the request for a new board. */
export interface ColumnPlan {
  readonly name: string;
  readonly status: ColumnStatus;
  readonly wipLimit?: number | undefined;
}

/** The columns of a new board if the caller names none. */
export const defaultColumns: readonly ColumnPlan[] = [
  { name: 'Backlog', status: 'backlog' },
  { name: 'Ready', status: 'ready' },
  { name: 'In progress', status: 'in_progress' },
  { name: 'In review', status: 'in_review' },
  { name: 'Done', status: 'done' },
];

interface PositionedColumn {
  readonly id: string;
  readonly position: number;
}

/** Returns the columns that are not archived, from left to right. */
export const getActiveColumns = <Column extends PositionedColumn & { readonly archived_at: string | null }>(
  columns: readonly Column[],
): Column[] =>
  columns
    .filter(({ archived_at }) => archived_at === null)
    .sort((one, other) => one.position - other.position || (one.id < other.id ? -1 : 1));

/**
 * Returns the columns whose position differs from their index, with the index as the new position. The input
 * is ordered from left to right.
 */
export const findMovedColumns = <Column extends PositionedColumn>(columns: readonly Column[]): Column[] =>
  columns.flatMap((column, position) => (column.position === position ? [] : [{ ...column, position }]));

/** Returns the columns in the order of the IDs; undefined unless the IDs name each column exactly once. */
export function sortColumnsByIds<Column extends PositionedColumn>(
  columns: readonly Column[],
  ids: readonly string[],
): Column[] | undefined {
  const byId = new Map(columns.map((column) => [column.id, column]));
  if (ids.length !== byId.size || new Set(ids).size !== ids.length) return undefined;
  const ordered = ids.flatMap((id) => byId.get(id) ?? []);
  return ordered.length === ids.length ? ordered : undefined;
}

/** Reports whether the board needs the column, as the only one of `columns` for backlog or done. */
export const isRequiredColumn = (
  columns: readonly { readonly id: string; readonly status: ColumnStatus }[],
  { id, status }: { readonly id: string; readonly status: ColumnStatus },
): boolean =>
  (status === 'backlog' || status === 'done') &&
  !columns.some((other) => other.id !== id && other.status === status);

/** Returns the number of stories in each status, from the counts of the columns and the project. */
export function countsByStatus(
  columns: readonly { readonly status: ColumnStatus; readonly story_count: number }[],
  canceledStories: number,
): Record<StoryStatus, number> {
  // Object.fromEntries loses the key type. These keys are all statuses.
  const counts = Object.fromEntries(storyStatuses.map((status) => [status, 0])) as Record<
    StoryStatus,
    number
  >;
  for (const { status, story_count } of columns) counts[status] += story_count;
  counts.canceled = canceledStories;
  return counts;
}
