/** The columns of a board: which a new one gets, their order, and which it cannot do without. */
import { type ColumnStatus, type StoryStatus, storyStatuses } from '@muster/registry';

/** Active columns on a board; the contract bounds its lists by the same number. */
export const mostColumns = 50;

/** A column as a new board describes it. */
export interface ColumnPlan {
  readonly name: string;
  readonly status: ColumnStatus;
  readonly wipLimit?: number | undefined;
}

/** What a new board gets unless the caller says otherwise. */
export const defaultColumns: readonly ColumnPlan[] = [
  { name: 'Backlog', status: 'backlog' },
  { name: 'Ready', status: 'ready' },
  { name: 'In progress', status: 'in_progress' },
  { name: 'In review', status: 'in_review' },
  { name: 'Done', status: 'done' },
];

interface Placed {
  readonly id: string;
  readonly position: number;
}

/** The columns that are on the board, from left to right. */
export const onBoard = <Column extends Placed & { readonly archived_at: string | null }>(
  columns: readonly Column[],
): Column[] =>
  columns
    .filter(({ archived_at }) => archived_at === null)
    .sort((one, other) => one.position - other.position || (one.id < other.id ? -1 : 1));

/** Of columns given from left to right, those that do not stand at 0, 1, 2 … yet, with the position they get. */
export const misplaced = <Column extends Placed>(columns: readonly Column[]): Column[] =>
  columns.flatMap((column, position) => (column.position === position ? [] : [{ ...column, position }]));

/** The columns in the order of the ids; undefined unless these name each of them exactly once. */
export function inOrderOf<Column extends Placed>(
  columns: readonly Column[],
  ids: readonly string[],
): Column[] | undefined {
  const byId = new Map(columns.map((column) => [column.id, column]));
  if (ids.length !== byId.size || new Set(ids).size !== ids.length) return undefined;
  const ordered = ids.flatMap((id) => byId.get(id) ?? []);
  return ordered.length === ids.length ? ordered : undefined;
}

/** Whether the board needs the column: it is the only one of `columns` for backlog or for done. */
export const isIndispensable = (
  columns: readonly { readonly id: string; readonly status: ColumnStatus }[],
  { id, status }: { readonly id: string; readonly status: ColumnStatus },
): boolean =>
  (status === 'backlog' || status === 'done') &&
  !columns.some((other) => other.id !== id && other.status === status);

/** How many stories have each status, from what the columns and the project count. */
export function countsByStatus(
  columns: readonly { readonly status: ColumnStatus; readonly story_count: number }[],
  canceled: number,
): Record<StoryStatus, number> {
  // Object.fromEntries forgets its keys; these are all statuses there are.
  const counts = Object.fromEntries(storyStatuses.map((status) => [status, 0])) as Record<
    StoryStatus,
    number
  >;
  for (const { status, story_count } of columns) counts[status] += story_count;
  counts.canceled = canceled;
  return counts;
}
