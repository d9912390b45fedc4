/** Keyset pages: the same `limit`, `cursor` and answer for every list. */
import { z } from 'zod';

export const defaultLimit = 50;
export const maxLimit = 200;
/** 1 MiB: a page is cut where its items are more, but never to none. */
export const mostPageBytes = 1024 * 1024;

/** 4 KiB: a longer text or manifest comes in a list only where it is asked for. */
export const mostUnaskedBytes = 4 * 1024;

export const page = {
  limit: z.int().min(1).max(maxLimit).default(defaultLimit).meta({ description: 'Items on a page' }),
  cursor: z
    .string()
    .max(1024)
    .optional()
    .meta({ description: 'nextCursor of the page before; absent for the first page' }),
};

/** Of items that are small by what they are, such as cards. */
export const mostSmallItems = 1_000;

/** `{items, nextCursor}`; nextCursor is null on the last page. A page may hold fewer items than `limit` and not be the last. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() });
