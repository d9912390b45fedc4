/** Limits the response size of a read. This is the only place where pages are cut by bytes. */
import { shortenPage } from '@muster/driver';
import { maxPageBytes } from '@muster/contract';

/**
 * Serializes the result as JSON. A page larger than `most` bytes ends with the last item that fits, and its
 * cursor continues from there. A single item is returned whatever its size.
 */
export function serializeWithinLimit(
  result: Record<string, unknown>,
  maxBytes = maxPageBytes,
): { readonly result: Record<string, unknown>; readonly json: string } {
  const json = JSON.stringify(result);
  const { items } = result;
  // Nearly every page is far below the limit, so nothing is measured. A UTF-16 code unit takes at most three
  // bytes in UTF-8.
  if (!Array.isArray(items) || json.length * 3 <= maxBytes) return { result, json };
  const count = countItemsThatFit(items, maxBytes);
  if (count === items.length) return { result, json };
  const shorter = shortenPage(result, count) as Record<string, unknown> | undefined;
  return shorter === undefined ? { result, json } : { result: shorter, json: JSON.stringify(shorter) };
}

/** Counts the items that fit, at least one. */
function countItemsThatFit(items: readonly unknown[], maxBytes: number): number {
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes > maxBytes) return Math.max(index, 1);
  }
  return items.length;
}
