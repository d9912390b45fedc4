/** Opaque cursors of keyset pages: the sort values of the last row, in base64url. */
import { type z } from 'zod';

/** The text of a cursor is not one that this list gave out. */
export class BadCursor extends Error {
  constructor() {
    super('the cursor is not one of this list');
    this.name = 'BadCursor';
  }
}

/** What follows a page: the items of the page and the cursor of the next, from `limit + 1` rows. */
export function pageOfRows<Row, Item>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => readonly (string | number)[],
  toItem: (row: Row) => Item,
): { items: Item[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(toItem),
    nextCursor: rows.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null,
  };
}

export const encodeCursor = (key: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(key)).toString('base64url');

/** Reads a cursor back, checked against the shape of this list's key. Throws BadCursor. */
export function decodeCursor<Key>(cursor: string | undefined, shape: z.ZodType<Key>): Key | undefined {
  if (cursor === undefined) return undefined;
  try {
    return shape.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
  } catch {
    throw new BadCursor();
  }
}
