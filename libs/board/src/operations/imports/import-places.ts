/** Finds the places on the board for the stories of a call of imports.put. */
import { type ImportItem } from '@muster/contract';
import { type ImportBoard, type ImportColumn } from '../../data/import-board.ts';
import { type StoryRow } from '../../data/stories.ts';
import { type ImportIssue } from '../../rules/import-plan.ts';
import { createCanceledRank, rankBetween } from '../../rules/ranks.ts';

export interface ImportPosition {
  /** Null for a canceled story, which is in no column. */
  readonly column: ImportColumn | null;
  readonly status: StoryRow['status'];
  /**
   * True if the item names the column itself. If the item only has a status, the column is the first one of
   * that status.
   */
  readonly isColumnNamed: boolean;
}

/**
 * Returns the place on the board that an item asks for. Returns null if the item names neither a column nor a
 * status. Returns `refused` if the board has no such place.
 */
export function resolveImportPosition(
  { columns }: ImportBoard,
  { column, status }: ImportItem,
): ImportPosition | { readonly refused: ImportIssue } | null {
  if (column !== undefined) {
    const found = columns.find(({ name }) => name.toLowerCase() === column.toLowerCase());
    return found === undefined
      ? { refused: { path: 'column', message: `The board has no column named ${column}.` } }
      : { column: found, status: found.status, isColumnNamed: true };
  }
  if (status === undefined) return null;
  if (status === 'canceled') return { column: null, status, isColumnNamed: false };
  const found = columns.find((candidate) => candidate.status === status);
  return found === undefined
    ? { refused: { path: 'status', message: `The board has no column with status ${status}.` } }
    : { column: found, status, isColumnNamed: false };
}

/** Returns the place of a new item that names neither a column nor a status: the first backlog column. */
export const defaultImportPosition = ({ columns }: ImportBoard): ImportPosition => ({
  column: columns.find(({ status }) => status === 'backlog') ?? null,
  status: 'backlog',
  isColumnNamed: false,
});

/**
 * Returns a function that answers the next rank at the end of a column. Each rank comes after
 * the rank of the previous call for that column.
 */
export function createEndRankGenerator({ columns }: ImportBoard) {
  const lastRanks = new Map(columns.map(({ id, lastRank }) => [id, lastRank]));
  return (column: ImportColumn | null): string => {
    if (column === null) return createCanceledRank();
    const rank = rankBetween(lastRanks.get(column.id) ?? null, null);
    lastRanks.set(column.id, rank);
    return rank;
  };
}
