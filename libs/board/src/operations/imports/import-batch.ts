import { type Db } from '@muster/driver';
import { type Policy } from '@muster/contract';
import { type Caller } from '@muster/runtime';
import { type ImportBoard, type MatchedMember } from '../../data/import-board.ts';
import { type ImportItemRow, type ImportRow } from '../../data/imports.ts';

/** The data that all parts of an imports.put share: the call, the board, and the results of earlier imports. */
export interface ImportBatch {
  readonly db: Db;
  readonly caller: Caller;
  readonly at: string;
  readonly policy: Policy;
  readonly current: ImportRow;
  readonly board: ImportBoard;
  /** The stored results of earlier imports of the items, by importItemKey. */
  readonly noted: ReadonlyMap<string, ImportItemRow>;
  /** Stories that mirror items, by external id. */
  readonly mirrors: ReadonlyMap<string, { readonly id: string; readonly version: number }>;
  /** The members by e-mail. */
  readonly members: ReadonlyMap<string, MatchedMember>;
  /** True if the caller may import and change comments whose author is another member: admins only. */
  readonly writesForMembers: boolean;
}
