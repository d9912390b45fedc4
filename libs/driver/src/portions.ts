/** Splits large writes, because a burst and each of its statements have a time limit (see createPool). */

/** Triggers index each text for search, which takes about half a second per MiB on an idle server. */
const mostBytes = 128 * 1024;
const mostItems = 100;

/** Approximate bytes of a parameter, or of a list of them. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string' || Buffer.isBuffer(value)) return value.length;
  if (!Array.isArray(value)) return 8;
  return value.reduce<number>((sum, one) => sum + sizeOf(one), 0);
}

/** The items in order, in portions of limited length and bytes. An item that exceeds the bytes is a portion by itself. */
export function portionsOf<Item>(items: readonly Item[], bytesOf: (item: Item) => number): Item[][] {
  const portions: Item[][] = [];
  let portion: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = bytesOf(item);
    if (portion.length === mostItems || (portion.length > 0 && bytes + size > mostBytes)) {
      portions.push(portion);
      [portion, bytes] = [[], 0];
    }
    portion.push(item);
    bytes += size;
  }
  if (portion.length > 0) portions.push(portion);
  return portions;
}
