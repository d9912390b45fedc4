/**
 * Parses globs over repository paths. A slash separates segments. Within a segment `*` matches any text, `?`
 * one character, `[a-z]` and `[!a-z]` one of a class, and `{a,b}` one of several. A backslash makes the next
 * character literal. `**` is a whole segment and matches zero or more segments, or one or more at the end.
 * Globs are case-sensitive, and files that begin with a dot get no special treatment.
 */
import {
  anyCodePoint,
  codePointSetOf,
  codePointClass,
  type CodePoints,
  dotCodePoint,
  type CodePointRange,
} from './code-points.ts';

/** One element of a segment. */
export type SegmentPiece =
  | { readonly kind: 'one'; readonly of: CodePoints }
  | { readonly kind: 'any' }
  | { readonly kind: 'choice'; readonly options: readonly (readonly SegmentPiece[])[] };

export type Segment = readonly SegmentPiece[];

/** The segments of a glob. `null` is `**`: zero or more segments. */
export type Glob = readonly (Segment | null)[];

/** The error of a pattern that is not a valid glob. */
export class MalformedGlob extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'MalformedGlob';
  }
}

const anySegment: Segment = [{ kind: 'one', of: anyCodePoint }, { kind: 'any' }];

/** Parses a pattern. Throws MalformedGlob with the syntax problem. */
export function parseGlob(pattern: string): Glob {
  const glob = splitAtSlashes(pattern).map(parseSegment);
  // At the end `**` means one or more segments: zero or more, followed by one.
  return glob.at(-1) === null ? [...glob, anySegment] : glob;
}

const parseSegment = (text: string): Segment | null =>
  text === '**' ? null : new SegmentParser(text).segment();

/**
 * Throws MalformedGlob for a pattern that cannot be locked. Its syntax is wrong, or a segment spells nothing,
 * `.` or `..`, which no path contains. A segment with braces spells one text per choice, and one bad text is
 * enough: `{.,x}`, `{,x}`, `.{.,a}`. An escaped dot and the class `[.]` count as dots. Text with `*`, `?` or
 * a larger class is valid, although it may match dots: `.*`, `[.a]`, `*`.
 */
export function checkGlob(pattern: string): void {
  if (pattern === '') throw new MalformedGlob('must not be empty');
  if (pattern.startsWith('/')) throw new MalformedGlob('must be relative to the root of the repository');
  for (const text of splitAtSlashes(pattern)) {
    const [dots] = dotOnlyLengths(parseSegment(text) ?? anySegment);
    if (dots === undefined) continue;
    const problem =
      dots === 0
        ? 'must not have an empty segment or end with a slash'
        : 'must not contain the segments . or ..';
    const spelled = '.'.repeat(dots);
    const how = text === spelled ? '' : `: ${text} can be ${spelled === '' ? 'empty' : spelled}`;
    throw new MalformedGlob(problem + how);
  }
}

const maxDotCount = 2;

/** Returns the lengths, up to two, of the texts consisting only of dots that the pieces can match. */
function dotOnlyLengths(pieces: Segment): number[] {
  let counts = [0];
  for (const piece of pieces) {
    const more = dotOnlyLengthsOfPiece(piece);
    const sums = counts.flatMap((count) => more.map((dots) => count + dots));
    counts = [...new Set(sums)].filter((dots) => dots <= maxDotCount);
  }
  return counts;
}

function dotOnlyLengthsOfPiece(piece: SegmentPiece): number[] {
  switch (piece.kind) {
    case 'one':
      return isOnlyDot(piece.of) ? [1] : [];
    case 'any':
      return [];
    case 'choice':
      return [...new Set(piece.options.flatMap(dotOnlyLengths))];
  }
}

const isOnlyDot = ([first, ...others]: CodePoints): boolean =>
  others.length === 0 && first?.[0] === dotCodePoint && first[1] === dotCodePoint;

/**
 * Splits a pattern at slashes. An escaped or bracketed slash is an error, since no segment can contain one.
 */
function splitAtSlashes(pattern: string): string[] {
  if (/\\\//.test(pattern)) throw new MalformedGlob('must not escape a slash');
  return pattern.split('/');
}

/** The maximum depth of nested braces: more than callers need, and far below the stack limit. */
const maxBraceDepth = 8;

class SegmentParser {
  private readonly chars: readonly string[];
  private position = 0;

  constructor(text: string) {
    this.chars = Array.from(text);
  }

  segment(): Segment {
    const pieces = this.sequence(0);
    // A sequence ends before the end of the text only at a `}` without a `{`.
    if (this.position < this.chars.length) throw new MalformedGlob('has a } without {');
    return pieces;
  }

  private sequence(depth: number): SegmentPiece[] {
    const pieces: SegmentPiece[] = [];
    for (; this.position < this.chars.length;) {
      const char = this.chars[this.position] ?? '';
      if (char === '}' || (char === ',' && depth > 0)) return pieces;
      this.position += 1;
      pieces.push(this.piece(char, depth));
    }
    return pieces;
  }

  private piece(char: string, depth: number): SegmentPiece {
    switch (char) {
      case '*':
        if (this.chars[this.position] === '*') throw new MalformedGlob('** must be a whole segment');
        return { kind: 'any' };
      case '?':
        return { kind: 'one', of: anyCodePoint };
      case '[':
        return { kind: 'one', of: this.charClass() };
      case '{':
        return this.choice(depth + 1);
      case ']':
        throw new MalformedGlob('has a ] without [');
      case '\\':
        return { kind: 'one', of: codePointSetOf(this.escaped()) };
      default:
        return { kind: 'one', of: codePointSetOf(char) };
    }
  }

  private escaped(): string {
    const char = this.chars[this.position];
    if (char === undefined) throw new MalformedGlob('ends in the middle of an escape');
    this.position += 1;
    return char;
  }

  private choice(depth: number): SegmentPiece {
    if (depth > maxBraceDepth) throw new MalformedGlob(`nests braces more than ${maxBraceDepth} levels deep`);
    const options = [this.sequence(depth)];
    while (this.chars[this.position] === ',') {
      this.position += 1;
      options.push(this.sequence(depth));
    }
    if (this.chars[this.position] !== '}') throw new MalformedGlob('has a { without }');
    this.position += 1;
    if (options.length === 1) throw new MalformedGlob('has braces without alternatives');
    return { kind: 'choice', options };
  }

  private charClass(): CodePoints {
    const negated = this.chars[this.position] === '!';
    if (negated) this.position += 1;
    const ranges: CodePointRange[] = [];
    for (;;) {
      const char = this.chars[this.position];
      if (char === undefined) throw new MalformedGlob('has a [ without ]');
      this.position += 1;
      if (char === ']') break;
      const from = this.member(char);
      const isRange = this.chars[this.position] === '-' && this.chars[this.position + 1] !== ']';
      if (!isRange) {
        ranges.push([from, from]);
        continue;
      }
      this.position += 1;
      const end = this.chars[this.position];
      if (end === undefined) throw new MalformedGlob('has a [ without ]');
      this.position += 1;
      const to = this.member(end);
      if (to < from) throw new MalformedGlob('has a range whose end is before its start');
      ranges.push([from, to]);
    }
    if (ranges.length === 0) throw new MalformedGlob('has an empty character class');
    return codePointClass(ranges, negated);
  }

  private member(char: string): number {
    if (char === '[') throw new MalformedGlob('has a [ inside a character class; escape it');
    return (char === '\\' ? this.escaped() : char).codePointAt(0) ?? 0;
  }
}
