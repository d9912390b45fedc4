/** Keyset pages: the same `limit`, `cursor` and answer for every list. */
import { z } from 'zod';

export const defaultLimit = 50;
export const maxLimit = 200;

export const page = {
  limit: z.int().min(1).max(maxLimit).default(defaultLimit).meta({ description: 'Items on a page' }),
  cursor: z
    .string()
    .max(1024)
    .optional()
    .meta({ description: 'nextCursor of the page before; absent for the first page' }),
};

/** `{items, nextCursor}`; nextCursor is null on the last page. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() });
