/**
 * How a glob over repository paths is written. Segments are separated by a slash; in a segment `*` is any text, `?`
 * any one character, `[a-z]` and `[!a-z]` one of a class, `{a,b}` one of several, and a backslash takes the next
 * character as it is. `**` is a whole segment and stands for zero or more of them, at the end for one or more.
 * Case counts, and files that begin with a dot are like others.
 */
import { anyCodePoint, codePoint, codePointClass, type CodePoints, dot, type Range } from './code-points.ts';

/** One piece of a segment. */
export type Piece =
  | { readonly kind: 'one'; readonly of: CodePoints }
  | { readonly kind: 'any' }
  | { readonly kind: 'choice'; readonly options: readonly (readonly Piece[])[] };

export type Segment = readonly Piece[];

/** `null` is `**`: zero or more segments. */
export type Glob = readonly (Segment | null)[];

/** The pattern is no glob over repository paths. */
export class MalformedGlob extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'MalformedGlob';
  }
}

const anySegment: Segment = [{ kind: 'one', of: anyCodePoint }, { kind: 'any' }];

/** Takes a pattern apart, or throws MalformedGlob with what is wrong about how it is written. */
export function parseGlob(pattern: string): Glob {
  const glob = splitAtSlashes(pattern).map(readSegment);
  // At the end one or more: zero or more, and then one.
  return glob.at(-1) === null ? [...glob, anySegment] : glob;
}

const readSegment = (text: string): Segment | null =>
  text === '**' ? null : new SegmentReader(text).segment();

/**
 * Throws MalformedGlob where a pattern cannot be asked for: it is not well written, or a segment of it spells what no
 * segment of a path is, nothing, `.` or `..`. With braces a segment spells one text for each way to choose, and one such
 * text is too many: `{.,x}`, `{,x}`, `.{.,a}`. An escaped dot and the class `[.]` are dots. A text with `*`, `?` or a
 * class of more characters spells none of the three, although it may match them: `.*`, `[.a]`, `*` are good.
 */
export function checkGlob(pattern: string): void {
  if (pattern === '') throw new MalformedGlob('must not be empty');
  if (pattern.startsWith('/')) throw new MalformedGlob('must be relative to the root of the repository');
  for (const text of splitAtSlashes(pattern)) {
    const [dots] = dotsSpelledBy(readSegment(text) ?? anySegment);
    if (dots === undefined) continue;
    const problem =
      dots === 0 ? 'must not have an empty segment, nor end in a slash' : 'must not have a segment . or ..';
    const spelled = '.'.repeat(dots);
    const how = text === spelled ? '' : `: ${text} can be ${spelled === '' ? 'empty' : spelled}`;
    throw new MalformedGlob(problem + how);
  }
}

const mostDots = 2;

/** How many dots, at most two, those texts have that pieces spell and that are nothing but dots. */
function dotsSpelledBy(pieces: Segment): number[] {
  let counts = [0];
  for (const piece of pieces) {
    const more = dotsOf(piece);
    const sums = counts.flatMap((count) => more.map((dots) => count + dots));
    counts = [...new Set(sums)].filter((dots) => dots <= mostDots);
  }
  return counts;
}

function dotsOf(piece: Piece): number[] {
  switch (piece.kind) {
    case 'one':
      return isDot(piece.of) ? [1] : [];
    case 'any':
      return [];
    case 'choice':
      return [...new Set(piece.options.flatMap(dotsSpelledBy))];
  }
}

const isDot = ([first, ...others]: CodePoints): boolean =>
  others.length === 0 && first?.[0] === dot && first[1] === dot;

/** A slash always separates; escaped or in brackets it is an error, since no segment can hold one. */
function splitAtSlashes(pattern: string): string[] {
  if (/\\\//.test(pattern)) throw new MalformedGlob('must not escape a slash');
  return pattern.split('/');
}

/** Braces in braces: far more than a caller writes, far less than a stack. */
const deepest = 8;

class SegmentReader {
  private readonly chars: readonly string[];
  private at = 0;

  constructor(text: string) {
    this.chars = Array.from(text);
  }

  segment(): Segment {
    const pieces = this.sequence(0);
    // Only an unopened brace stops a sequence before its end.
    if (this.at < this.chars.length) throw new MalformedGlob('has a } without {');
    return pieces;
  }

  private sequence(depth: number): Piece[] {
    const pieces: Piece[] = [];
    for (; this.at < this.chars.length;) {
      const char = this.chars[this.at] ?? '';
      if (char === '}' || (char === ',' && depth > 0)) return pieces;
      this.at += 1;
      pieces.push(this.piece(char, depth));
    }
    return pieces;
  }

  private piece(char: string, depth: number): Piece {
    switch (char) {
      case '*':
        if (this.chars[this.at] === '*') throw new MalformedGlob('** must be a whole segment');
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
        return { kind: 'one', of: codePoint(this.escaped()) };
      default:
        return { kind: 'one', of: codePoint(char) };
    }
  }

  private escaped(): string {
    const char = this.chars[this.at];
    if (char === undefined) throw new MalformedGlob('ends in the middle of an escape');
    this.at += 1;
    return char;
  }

  private choice(depth: number): Piece {
    if (depth > deepest) throw new MalformedGlob(`has braces more than ${deepest} deep`);
    const options = [this.sequence(depth)];
    while (this.chars[this.at] === ',') {
      this.at += 1;
      options.push(this.sequence(depth));
    }
    if (this.chars[this.at] !== '}') throw new MalformedGlob('has a { without }');
    this.at += 1;
    if (options.length === 1) throw new MalformedGlob('has braces with nothing to choose from');
    return { kind: 'choice', options };
  }

  private charClass(): CodePoints {
    const negated = this.chars[this.at] === '!';
    if (negated) this.at += 1;
    const ranges: Range[] = [];
    for (;;) {
      const char = this.chars[this.at];
      if (char === undefined) throw new MalformedGlob('has a [ without ]');
      this.at += 1;
      if (char === ']') break;
      const from = this.member(char);
      const isRange = this.chars[this.at] === '-' && this.chars[this.at + 1] !== ']';
      if (!isRange) {
        ranges.push([from, from]);
        continue;
      }
      this.at += 1;
      const end = this.chars[this.at];
      if (end === undefined) throw new MalformedGlob('has a [ without ]');
      this.at += 1;
      const to = this.member(end);
      if (to < from) throw new MalformedGlob('has a range that ends before it begins');
      ranges.push([from, to]);
    }
    if (ranges.length === 0) throw new MalformedGlob('has an empty class');
    return codePointClass(ranges, negated);
  }

  private member(char: string): number {
    if (char === '[') throw new MalformedGlob('has a [ in a class; escape it');
    return (char === '\\' ? this.escaped() : char).codePointAt(0) ?? 0;
  }
}
