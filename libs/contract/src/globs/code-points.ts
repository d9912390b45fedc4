/** Sets of code points, stored as sorted ranges that neither overlap nor touch. */

/** A range of code points, given by its first and its last code point. */
export type CodePointRange = readonly [from: number, to: number];
export type CodePoints = readonly CodePointRange[];

const maxCodePoint = 0x10_ffff;
export const dotCodePoint = 0x2e;

/**
 * The characters of a path segment: all but NUL, the slash, and surrogates, which valid text does not
 * contain.
 */
const slashCodePoint = 0x2f;
export const anyCodePoint: CodePoints = [
  [1, slashCodePoint - 1],
  [slashCodePoint + 1, 0xd7ff],
  [0xe000, maxCodePoint],
];

export const codePointSetOf = (text: string): CodePoints => {
  const point = text.codePointAt(0) ?? 0;
  return [[point, point]];
};

/** Returns the intersection of two sets. */
export function intersectCodePoints(a: CodePoints, b: CodePoints): CodePoints {
  const common: CodePointRange[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [aFrom, aTo] = a[i] ?? [0, 0];
    const [bFrom, bTo] = b[j] ?? [0, 0];
    const from = Math.max(aFrom, bFrom);
    const to = Math.min(aTo, bTo);
    if (from <= to) common.push([from, to]);
    if (aTo < bTo) i += 1;
    else j += 1;
  }
  return common;
}

/** Sorts ranges, and joins those that overlap or touch. */
function mergeRanges(ranges: readonly CodePointRange[]): CodePoints {
  const joined: [number, number][] = [];
  for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
    const before = joined.at(-1);
    if (before !== undefined && from <= before[1] + 1) before[1] = Math.max(before[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

/**
 * Returns the characters that a class such as `[a-z_]` or `[!0-9]` matches. A class never matches the slash.
 */
export function codePointClass(ranges: readonly CodePointRange[], negated: boolean): CodePoints {
  const within = mergeRanges(ranges);
  if (!negated) return intersectCodePoints(within, anyCodePoint);
  const outside: CodePointRange[] = [];
  let next = 0;
  for (const [from, to] of within) {
    if (from > next) outside.push([next, from - 1]);
    next = to + 1;
  }
  if (next <= maxCodePoint) outside.push([next, maxCodePoint]);
  return intersectCodePoints(outside, anyCodePoint);
}

/**
 * The preferred characters of a readable witness: a lowercase letter, a digit, a capital, then printable
 * ASCII.
 */
const preferredCharacters: CodePoints[] = [[[0x61, 0x7a]], [[0x30, 0x39]], [[0x41, 0x5a]], [[0x21, 0x7e]]];

/** Returns one character of the set; undefined if it is empty. */
export function pickReadableCharacter(set: CodePoints): string | undefined {
  for (const preferred of [...preferredCharacters, set]) {
    const [range] = intersectCodePoints(set, preferred);
    if (range !== undefined) return String.fromCodePoint(range[0]);
  }
  return undefined;
}
