/** How long the answer of a read may be: the one place where pages are cut by bytes. */
import { shortened } from '@muster/driver';
import { mostPageBytes } from '@muster/registry';

/**
 * The result as JSON text. A page whose items are more than `most` bytes ends with the last one that fits, and its
 * cursor goes on from there; a single item is answered whatever it measures.
 */
export function answerText(
  result: Record<string, unknown>,
  most = mostPageBytes,
): { readonly result: Record<string, unknown>; readonly json: string } {
  const json = JSON.stringify(result);
  const { items } = result;
  // Nearly every page is far below: then nothing is measured. A character has three bytes at most.
  if (!Array.isArray(items) || json.length * 3 <= most) return { result, json };
  const count = countWithin(items, most);
  if (count === items.length) return { result, json };
  const shorter = shortened(result, count) as Record<string, unknown> | undefined;
  return shorter === undefined ? { result, json } : { result: shorter, json: JSON.stringify(shorter) };
}

/** How many items fit, at least one. */
function countWithin(items: readonly unknown[], most: number): number {
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes > most) return Math.max(index, 1);
  }
  return items.length;
}
