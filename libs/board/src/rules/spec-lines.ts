/** How many lines a version of a spec added and removed against the one before. */
import { diffArrays } from 'diff';

export interface LineChanges {
  readonly linesAdded: number;
  readonly linesRemoved: number;
}

/**
 * The shortest way from one text to another can cost the square of their length, which a count is not worth: a
 * quarter of a MiB of empty lines would hold the process for minutes. Within these bounds it takes under 100 ms. None of
 * them is a time: the same texts count the same on any machine.
 */
const mostLines = 20_000;
const bounds = { maxEditLength: 500 };

/**
 * The lines; whether the last one has a line break makes no other line of it, or a line that is written below it would
 * count for two. No text has no lines.
 */
export const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** Counts by content alone, wherever it moved to: never more than the shortest way counts, and linear. */
export function changesWhereverTheyAre(before: readonly string[], after: readonly string[]): LineChanges {
  const balance = new Map<string, number>();
  for (const line of before) balance.set(line, (balance.get(line) ?? 0) - 1);
  for (const line of after) balance.set(line, (balance.get(line) ?? 0) + 1);
  let linesAdded = 0;
  let linesRemoved = 0;
  for (const count of balance.values()) {
    if (count > 0) linesAdded += count;
    else linesRemoved -= count;
  }
  return { linesAdded, linesRemoved };
}

/** The line changes that lead from one text to the other; of texts too long or too different, wherever they are. */
export function lineChanges(before: string, after: string): LineChanges {
  const old = linesOf(before);
  const fresh = linesOf(after);
  if (old.length === 0 || fresh.length === 0) return { linesAdded: fresh.length, linesRemoved: old.length };
  if (old.length + fresh.length > mostLines) return changesWhereverTheyAre(old, fresh);
  const parts = diffArrays(old, fresh, bounds);
  if (parts === undefined) return changesWhereverTheyAre(old, fresh);
  let linesAdded = 0;
  let linesRemoved = 0;
  for (const { added, removed, count } of parts) {
    if (added) linesAdded += count;
    if (removed) linesRemoved += count;
  }
  return { linesAdded, linesRemoved };
}
