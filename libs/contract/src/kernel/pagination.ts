/** Keyset pagination. Every list uses these definitions of `limit`, `cursor` and the page. */
import { z } from 'zod';

export const defaultPageSize = 50;
export const maxPageSize = 200;
/** The maximum size of a page, 1 MiB. A page is cut at this size, but has at least one item. */
export const maxPageBytes = 1024 * 1024;

/** The size from which lists include a text or manifest only on request, 4 KiB. */
export const maxBytesIncludedByDefault = 4 * 1024;

export const pageParams = {
  limit: z
    .int()
    .min(1)
    .max(maxPageSize)
    .default(defaultPageSize)
    .meta({ description: 'The maximum number of items per page' }),
  cursor: z
    .string()
    .max(1024)
    .optional()
    .meta({ description: 'The nextCursor of the previous page; omit it for the first page' }),
};

/** The maximum page size for lists of small items, such as cards. */
export const maxSmallItemsPageSize = 1_000;

/**
 * A page `{items, nextCursor}`. `nextCursor` is null on the last page. A page may have fewer items than
 * `limit` without being the last one.
 */
export const pageSchemaOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() });
