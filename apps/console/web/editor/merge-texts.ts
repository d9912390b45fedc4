import { diff3Merge } from 'node-diff3';

/** Splits a text into lines that keep their line breaks, so that joining them restores every byte. */
const linesOf = (text: string): string[] => text.split(/(?<=\n)/);

/** Merges two changes of the same base line by line. Returns undefined if they overlap. */
export function mergeTexts(base: string, mine: string, theirs: string): string | undefined {
  const regions = diff3Merge(linesOf(mine), linesOf(base), linesOf(theirs), { excludeFalseConflicts: true });
  const merged = regions.map(({ ok }) => ok?.join(''));
  return merged.includes(undefined) ? undefined : merged.join('');
}
