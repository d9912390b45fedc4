/** The byte budget of lists that are not paginated: details of a refusal, and results of a dry run. */
import { z } from 'zod';

/** 64 KiB for each list. The first item is always included, whatever its size. */
export const maxListBytes = 64 * 1024;

export const OmittedCounts = z.record(z.string(), z.int()).meta({
  description: 'For each list that was shortened: the number of items that were omitted',
});
type LeftOut = z.infer<typeof OmittedCounts>;

function countWithinBytes(items: readonly unknown[], maxBytes: number): number {
  const encoder = new TextEncoder();
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    bytes += encoder.encode(JSON.stringify(item)).length + 1;
    if (bytes > maxBytes) return Math.max(index, 1);
  }
  return items.length;
}

/** Returns the facts with each list cut to its budget. `leftOut` has the number of omitted items by list. */
export function truncateLists<Facts extends object>(details: Facts): Facts & { leftOut?: LeftOut } {
  const leftOut: LeftOut = {};
  const short: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(details)) {
    if (!Array.isArray(value)) continue;
    const count = countWithinBytes(value, maxListBytes);
    if (count === value.length) continue;
    short[name] = value.slice(0, count);
    leftOut[name] = value.length - count;
  }
  return Object.keys(leftOut).length === 0 ? details : { ...details, ...short, leftOut };
}
