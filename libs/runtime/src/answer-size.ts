/** Limits the response size of a read. This is the only place where pages are cut by bytes. */
import { shortened } from '@muster/driver';
import { mostPageBytes } from '@muster/registry';

/**
 * Serializes the result as JSON. A page larger than `most` bytes ends with the last item that fits, and its
 * cursor continues from there. A single item is returned whatever its size.
 */
export function answerText(
  result: Record<string, unknown>,
  most = mostPageBytes,
): { readonly result: Record<string, unknown>; readonly json: string } {
  const json = JSON.stringify(result);
  const { items } = result;
  // Nearly every page is far below the limit, so nothing is measured. A UTF-16 code unit takes at most three
  // bytes in UTF-8.
  if (!Array.isArray(items) || json.length * 3 <= most) return { result, json };
  const count = countWithin(items, most);
  if (count === items.length) return { result, json };
  const shorter = shortened(result, count) as Record<string, unknown> | undefined;
  return shorter === undefined ? { result, json } : { result: shorter, json: JSON.stringify(shorter) };
}

/** Counts the items that fit, at least one. */
function countWithin(items: readonly unknown[], most: number): number {
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes > most) return Math.max(index, 1);
  }
  return items.length;
}
