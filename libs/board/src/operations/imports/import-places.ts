/** Where on the board the stories of a put go. */
import { type ImportItem } from '@muster/registry';
import { type ImportBoard, type ImportColumn } from '../../data/import-board.ts';
import { type StoryRow } from '../../data/stories.ts';
import { type Issue } from '../../rules/import-plan.ts';
import { canceledRank, rankBetween } from '../../rules/ranks.ts';

export interface Place {
  /** None of a canceled story. */
  readonly column: ImportColumn | null;
  readonly status: StoryRow['status'];
  /** The item names the column; a status only says which column it may be. */
  readonly isNamed: boolean;
}

/** Where an item wants to be: null where it says nothing, `refused` where the board has no such place. */
export function placeOf(
  { columns }: ImportBoard,
  { column, status }: ImportItem,
): Place | { readonly refused: Issue } | null {
  if (column !== undefined) {
    const found = columns.find(({ name }) => name.toLowerCase() === column.toLowerCase());
    return found === undefined
      ? { refused: { path: 'column', message: `The board has no column ${column}.` } }
      : { column: found, status: found.status, isNamed: true };
  }
  if (status === undefined) return null;
  if (status === 'canceled') return { column: null, status, isNamed: false };
  const found = columns.find((candidate) => candidate.status === status);
  return found === undefined
    ? { refused: { path: 'status', message: `The board has no column of status ${status}.` } }
    : { column: found, status, isNamed: false };
}

/** Backlog, where a new item says nothing. */
export const firstPlace = ({ columns }: ImportBoard): Place => ({
  column: columns.find(({ status }) => status === 'backlog') ?? null,
  status: 'backlog',
  isNamed: false,
});

/** The ends of columns, each of which a story goes to after the one before. */
export function endsOf({ columns }: ImportBoard) {
  const lasts = new Map(columns.map(({ id, last }) => [id, last]));
  return (column: ImportColumn | null): string => {
    if (column === null) return canceledRank();
    const rank = rankBetween(lasts.get(column.id) ?? null, null);
    lasts.set(column.id, rank);
    return rank;
  };
}
