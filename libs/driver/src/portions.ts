/** Splits large writes, because a burst and each of its statements have a time limit (see createPool). */

/** The most bytes per portion. Triggers index each text for search: about 0.5 s per MiB on an idle server. */
const maxPortionBytes = 128 * 1024;
const maxPortionItems = 100;

/** Estimates the bytes of a parameter or of a list of parameters. */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string' || Buffer.isBuffer(value)) return value.length;
  if (!Array.isArray(value)) return 8;
  return value.reduce<number>((sum, one) => sum + estimateBytes(one), 0);
}

/** Splits the items, in order, into portions of limited length and bytes. An item above the limit gets its own portion. */
export function splitIntoPortions<Item>(items: readonly Item[], bytesOf: (item: Item) => number): Item[][] {
  const portions: Item[][] = [];
  let portion: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = bytesOf(item);
    if (portion.length === maxPortionItems || (portion.length > 0 && bytes + size > maxPortionBytes)) {
      portions.push(portion);
      [portion, bytes] = [[], 0];
    }
    portion.push(item);
    bytes += size;
  }
  if (portion.length > 0) portions.push(portion);
  return portions;
}
