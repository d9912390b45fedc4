/** Sets of code points, stored as sorted ranges that neither overlap nor touch. */

/** A range of code points, given by its first and its last code point. */
export type Range = readonly [from: number, to: number];
export type CodePoints = readonly Range[];

const last = 0x10_ffff;
export const dot = 0x2e;

/**
 * The characters of a path segment: all but NUL, the slash, and surrogates, which valid text does not
 * contain.
 */
const slash = 0x2f;
export const anyCodePoint: CodePoints = [
  [1, slash - 1],
  [slash + 1, 0xd7ff],
  [0xe000, last],
];

export const codePoint = (text: string): CodePoints => {
  const point = text.codePointAt(0) ?? 0;
  return [[point, point]];
};

/** Returns the intersection of two sets. */
export function intersect(a: CodePoints, b: CodePoints): CodePoints {
  const common: Range[] = [];
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
function normalized(ranges: readonly Range[]): CodePoints {
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
export function codePointClass(ranges: readonly Range[], negated: boolean): CodePoints {
  const within = normalized(ranges);
  if (!negated) return intersect(within, anyCodePoint);
  const outside: Range[] = [];
  let next = 0;
  for (const [from, to] of within) {
    if (from > next) outside.push([next, from - 1]);
    next = to + 1;
  }
  if (next <= last) outside.push([next, last]);
  return intersect(outside, anyCodePoint);
}

/**
 * The preferred characters of a readable witness: a lowercase letter, a digit, a capital, then printable
 * ASCII.
 */
const pleasant: CodePoints[] = [[[0x61, 0x7a]], [[0x30, 0x39]], [[0x41, 0x5a]], [[0x21, 0x7e]]];

/** Returns one character of the set; undefined if it is empty. */
export function sample(set: CodePoints): string | undefined {
  for (const preferred of [...pleasant, set]) {
    const [range] = intersect(set, preferred);
    if (range !== undefined) return String.fromCodePoint(range[0]);
  }
  return undefined;
}
