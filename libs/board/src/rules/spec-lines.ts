/** The number of lines that a version of a spec added and removed. */
import { diffArrays } from 'diff';

export interface LineChanges {
  readonly linesAdded: number;
  readonly linesRemoved: number;
}

/**
 * The bounds of the exact diff. A shortest edit script can take quadratic time: a quarter of a MiB of empty
 * lines would block the process for minutes. Within these bounds it takes less than 100 ms. The bounds are
 * not times, so a text has the same counts on every machine.
 */
const maxDiffLines = 20_000;
const diffOptions = { maxEditLength: 500 };

/**
 * Splits a text into lines. A final line break does not matter; otherwise a line added below it would count
 * as two. An empty text has no lines.
 */
export const splitLines = (text: string): string[] =>
  text === '' ? [] : text.replace(/\n$/, '').split('\n');

/**
 * Counts changed lines by content, regardless of position. The result is at most the exact count, in linear
 * time.
 */
export function countChangesIgnoringOrder(
  oldLines: readonly string[],
  newLines: readonly string[],
): LineChanges {
  const balance = new Map<string, number>();
  for (const line of oldLines) balance.set(line, (balance.get(line) ?? 0) - 1);
  for (const line of newLines) balance.set(line, (balance.get(line) ?? 0) + 1);
  let linesAdded = 0;
  let linesRemoved = 0;
  for (const count of balance.values()) {
    if (count > 0) linesAdded += count;
    else linesRemoved -= count;
  }
  return { linesAdded, linesRemoved };
}

/**
 * Counts the changed lines between two texts. Texts that are too long or too different are compared
 * regardless of position.
 */
export function countLineChanges(oldText: string, newText: string): LineChanges {
  const old = splitLines(oldText);
  const fresh = splitLines(newText);
  if (old.length === 0 || fresh.length === 0) return { linesAdded: fresh.length, linesRemoved: old.length };
  if (old.length + fresh.length > maxDiffLines) return countChangesIgnoringOrder(old, fresh);
  const parts = diffArrays(old, fresh, diffOptions);
  if (parts === undefined) return countChangesIgnoringOrder(old, fresh);
  let linesAdded = 0;
  let linesRemoved = 0;
  for (const { added, removed, count } of parts) {
    if (added) linesAdded += count;
    if (removed) linesRemoved += count;
  }
  return { linesAdded, linesRemoved };
}
