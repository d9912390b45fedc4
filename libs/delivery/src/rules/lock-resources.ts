/**
 * The resources of locks, and the check for overlap. A resource is a path with everything below it, a glob
 * over repository paths, or `name:` with a name that overlaps only with itself. The check decides exactly if
 * two globs share a path. Most pairs are decided by their first and last characters, before any glob is
 * parsed.
 */
import { type Issue, type LockMode } from '@muster/registry';
import { codePoint } from './code-points.ts';
import { commonPath, type Effort, TooIntricate } from './glob-intersection.ts';
import { checkGlob, type Glob, MalformedGlob, parseGlob } from './glob-syntax.ts';
import { hasDriveLetter, normalizePath, relativeToRoot } from './repository-paths.ts';

const namePrefix = 'name:';
const longestName = 200;

/** A resource prepared for comparison. */
export interface Resource {
  readonly text: string;
  /** True if the text is a literal path or name, without wildcards and escapes. */
  readonly literal: boolean;
  /**
   * True if the resource also covers every path below `text`. It is set for literal resources only. A glob
   * expresses this by its segments.
   */
  readonly below: boolean;
  /**
   * The text with which every matching path begins, and the text with which it ends. If a `**` matches zero
   * segments, the path equals the tail without its slash.
   */
  readonly head: string;
  readonly tail: string;
  /** Returns the parsed glob. The first call parses it. */
  readonly glob: (effort: Effort) => Glob;
}

const isName = (text: string): boolean => text.startsWith(namePrefix);

/**
 * Returns the resource in its stored form: NFC, and a path without a leading `./`, doubled slashes or a
 * trailing slash. Call it before `problemOf`.
 */
export function normalizeResource(text: string): string {
  const composed = text.normalize('NFC');
  return isName(composed) ? composed : normalizePath(composed);
}

/** Returns the problem of a normalized resource, or undefined if it can be locked. */
export function problemOf(text: string): string | undefined {
  if (isName(text)) return problemOfName(text.slice(namePrefix.length));
  const problem = problemOfCharacters(text);
  if (problem !== undefined) return problem;
  if (hasDriveLetter(text)) return relativeToRoot;
  try {
    checkGlob(text);
  } catch (error) {
    if (error instanceof MalformedGlob) return error.message;
    throw error;
  }
  return problemOfBackslashes(text);
}

/**
 * Rejects backslashes that escape nothing. Windows uses them as separators, so `src\**` and `src\-x` are more
 * likely paths than escapes.
 */
function problemOfBackslashes(text: string): string | undefined {
  if (text.replaceAll('\\\\', '').includes('\\**'))
    return 'must not have the wildcard * directly after the escaped star \\*';
  const unescaped = text.replaceAll(/\\[*?[\]{}\\]/g, '');
  const inClasses = unescaped.includes('[') ? unescaped.replaceAll(/\\[!-]/g, '') : unescaped;
  const inBraces = unescaped.includes('{') ? inClasses.replaceAll('\\,', '') : inClasses;
  return inBraces.includes('\\')
    ? 'must separate folders with /; a backslash only escapes a glob character'
    : undefined;
}

function problemOfCharacters(text: string): string | undefined {
  if (/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text))
    return 'must not have control characters or invisible format characters';
  return text.trim() === text ? undefined : 'must not start or end with a space';
}

function problemOfName(name: string): string | undefined {
  if (name.trim() === '') return 'must have a name after name:';
  if (Array.from(name).length > longestName) return `must have a name of at most ${longestName} characters`;
  return problemOfCharacters(name);
}

/** Returns one validation issue for each invalid resource. */
export const issuesOf = (texts: readonly string[]): Issue[] =>
  texts.flatMap((text, index) => {
    const message = problemOf(text);
    return message === undefined ? [] : [{ path: `resources[${index}]`, message }];
  });

const special = /[*?[\]{}\\]/;
/** Reports whether the text is a path without unescaped wildcards. */
const isPlainPath = (text: string): boolean => !/[*?[\]{}]/.test(text.replaceAll(/\\./gsu, ''));
/** Matches the literal end of a pattern. After a backslash the end cannot be found without parsing. */
const plainEnd = /[^*?[\]{}]*$/;

/**
 * Returns the resource of a validated text. A stored lock may be older than the normalized form, so it is
 * normalized again.
 */
export function resourceOf(stored: string): Resource {
  const text = stored.normalize('NFC');
  if (isName(text)) return { ...literalOf(text, parseGlob), below: false };
  if (!special.test(text)) return { ...literalOf(text, parsePathAndBelow), tail: '', below: true };
  const isPath = isPlainPath(text);
  return {
    text,
    literal: false,
    below: false,
    head: text.slice(0, text.search(special)),
    tail: isPath || text.includes('\\') ? '' : (plainEnd.exec(text)?.[0] ?? ''),
    glob: once(text, isPath ? parsePathAndBelow : parseGlob),
  };
}

/**
 * Parses a path as a glob for itself and everything below. A written glob's final `**` would not match the
 * path itself.
 */
const parsePathAndBelow = (path: string): Glob => [...parseGlob(path), null];

/** Returns the resource for one file of the repository. All characters of its name are literal. */
export const fileOf = (path: string): Resource => literalOf(path.normalize('NFC'), literalGlob);

const literalOf = (text: string, parse: (text: string) => Glob): Resource => ({
  text,
  literal: true,
  below: false,
  head: text,
  tail: text,
  glob: once(text, parse),
});

const literalGlob = (path: string): Glob =>
  path
    .split('/')
    .map((segment) => Array.from(segment, (char) => ({ kind: 'one', of: codePoint(char) }) as const));

function once(text: string, parse: (text: string) => Glob): Resource['glob'] {
  let glob: Glob | undefined;
  return (effort) => {
    if (glob === undefined) {
      effort.spend(text.length);
      glob = parse(text);
    }
    return glob;
  };
}

/** Returns a path or name that both resources cover; undefined if there is none. Throws TooIntricate. */
export function witnessOf(a: Resource, b: Resource, effort: Effort): string | undefined {
  if (a.literal && b.literal) return commonOfLiterals(a, b);
  if (isName(a.text) || isName(b.text)) return undefined;
  if (!a.head.startsWith(b.head) && !b.head.startsWith(a.head)) return undefined;
  if (!a.tail.endsWith(b.tail) && !b.tail.endsWith(a.tail)) return undefined;
  return commonPath(a.glob(effort), b.glob(effort), effort);
}

function commonOfLiterals(a: Resource, b: Resource): string | undefined {
  const [outer, inner] = a.text.length < b.text.length ? [a, b] : [b, a];
  const overlap = outer.text === inner.text || (outer.below && inner.text.startsWith(`${outer.text}/`));
  return overlap ? inner.text : undefined;
}

/** Two overlapping resources with a common path or name. */
export interface Touch<A, B> {
  readonly a: A;
  readonly b: B;
  readonly witness: string;
}

/** Lists pairs of overlapping resources, one from each side, at most `most` of them. */
export function touches<A extends Resource, B extends Resource>(
  some: readonly A[],
  others: readonly B[],
  effort: Effort,
  most: number,
): Touch<A, B>[] {
  const found: Touch<A, B>[] = [];
  for (const b of others) {
    for (const a of some) {
      const witness = witnessOf(a, b, effort);
      if (witness === undefined) continue;
      found.push({ a, b, witness });
      if (found.length >= most) return found;
    }
  }
  return found;
}

/** The properties of a lock that decide if it conflicts with another one. */
export interface LockClaim {
  readonly mode: LockMode;
  readonly resources: readonly string[];
}

const bothShare = (a: LockClaim, b: LockClaim): boolean => a.mode === 'shared' && b.mode === 'shared';

/** A resource together with its lock. */
interface Held<Lock> extends Resource {
  readonly lock: Lock;
}

/**
 * Lists the resources in locks of other holders that conflict with a claim, at most `most` of them. Throws
 * TooIntricate.
 */
export function clashesWith<Lock extends LockClaim>(
  claim: LockClaim,
  others: readonly Lock[],
  effort: Effort,
  most: number,
): Touch<Resource, Held<Lock>>[] {
  const asked = claim.resources.map(resourceOf);
  const held = others
    .filter((lock) => !bothShare(claim, lock))
    .flatMap((lock) => lock.resources.map((text): Held<Lock> => ({ ...resourceOf(text), lock })));
  return touches(asked, held, effort, most);
}

/** Reports whether two locks have the same resources in any order. */
export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  const set = new Set(a);
  return set.size === new Set(b).size && b.every((text) => set.has(text));
}

/** Returns the result of `decide`; undefined if the patterns are too expensive to compare. */
export function unlessTooIntricate<Result>(decide: () => Result): Result | undefined {
  try {
    return decide();
  } catch (error) {
    if (error instanceof TooIntricate) return undefined;
    throw error;
  }
}
