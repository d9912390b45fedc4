/**
 * The resources of locks, and the check whether two of them overlap. A resource is a path with everything below it, a glob
 * over repository paths, or `name:` with a name that overlaps only with itself. Whether two globs have a path in common
 * is decided exactly; most pairs are told apart by how their texts begin and end, before a glob is parsed.
 */
import { type Issue, type LockMode } from '@muster/registry';
import { codePoint } from './code-points.ts';
import { commonPath, type Effort, TooIntricate } from './glob-intersection.ts';
import { checkGlob, type Glob, MalformedGlob, parseGlob } from './glob-syntax.ts';
import { hasDriveLetter, normalizePath, relativeToRoot } from './repository-paths.ts';

const namePrefix = 'name:';
const longestName = 200;

/** One resource, ready to be compared. */
export interface Resource {
  readonly text: string;
  /** The text is a path or name as it stands, without wildcards and escapes. */
  readonly literal: boolean;
  /** It also covers every path below the text. Only literal resources say so; a glob has it in its segments. */
  readonly below: boolean;
  /** How every path that matches begins, and ends; where `**` stands for nothing, the path is the end but its slash. */
  readonly head: string;
  readonly tail: string;
  /** Taken apart once, when it first comes to that. */
  readonly glob: (effort: Effort) => Glob;
}

const isName = (text: string): boolean => text.startsWith(namePrefix);

/**
 * Returns the resource in its stored form: NFC, and a path without a leading `./`, doubled slashes and a slash at its end.
 * Call it before `problemOf`.
 */
export function normalizeResource(text: string): string {
  const composed = text.normalize('NFC');
  return isName(composed) ? composed : normalizePath(composed);
}

/** Returns what is wrong with a normalized resource, or undefined if it can be locked. */
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

/** Windows separates folders by backslashes: `src\**` and `src\-x` are more likely that than literal characters. */
function problemOfBackslashes(text: string): string | undefined {
  if (text.replaceAll('\\\\', '').includes('\\**')) return 'must have no * after \\*';
  const unescaped = text.replaceAll(/\\[*?[\]{}\\]/g, '');
  const inClasses = unescaped.includes('[') ? unescaped.replaceAll(/\\[!-]/g, '') : unescaped;
  const inBraces = unescaped.includes('{') ? inClasses.replaceAll('\\,', '') : inClasses;
  return inBraces.includes('\\')
    ? 'must separate folders by /; a backslash only escapes a glob character'
    : undefined;
}

function problemOfCharacters(text: string): string | undefined {
  if (/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text)) return 'must have no control or invisible format characters';
  return text.trim() === text ? undefined : 'must have no space at its start or end';
}

function problemOfName(name: string): string | undefined {
  if (name.trim() === '') return 'must name something after name:';
  if (Array.from(name).length > longestName) return `must have a name of at most ${longestName} characters`;
  return problemOfCharacters(name);
}

/** One issue for each resource that is none. */
export const issuesOf = (texts: readonly string[]): Issue[] =>
  texts.flatMap((text, index) => {
    const message = problemOf(text);
    return message === undefined ? [] : [{ path: `resources[${index}]`, message }];
  });

const special = /[*?[\]{}\\]/;
/** Without its escapes, the text of a path and not a pattern. */
const isPlainPath = (text: string): boolean => !/[*?[\]{}]/.test(text.replaceAll(/\\./gsu, ''));
/** After these, what ends a pattern stands for itself; after a backslash one cannot tell without reading it all. */
const plainEnd = /[^*?[\]{}]*$/;

/** A resource of a lock. It was found well-formed before; a lock that is stored may be older than the normalized form. */
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

/** `**` at the end of a written glob stands for one segment or more; here the path itself belongs to it. */
const parsePathAndBelow = (path: string): Glob => [...parseGlob(path), null];

/** A file of the repository, whatever characters its name has. */
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

/** A path or name that both are about; undefined where there is none. Throws TooIntricate. */
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

/** Two that are about the same thing. */
export interface Touch<A, B> {
  readonly a: A;
  readonly b: B;
  readonly witness: string;
}

/** Each of one side with each of the other that it has something in common with, at most `most` of them. */
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

/** What has to be known of a lock to see whether another one can be beside it. */
export interface Claim {
  readonly mode: LockMode;
  readonly resources: readonly string[];
}

const bothShare = (a: Claim, b: Claim): boolean => a.mode === 'shared' && b.mode === 'shared';

/** A resource of a lock, with the lock. */
interface Held<Lock> extends Resource {
  readonly lock: Lock;
}

/** What of the locks of other holders is in the way of a claim, at most `most` resources of each. Throws TooIntricate. */
export function clashesWith<Lock extends Claim>(
  claim: Claim,
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

/** Whether two locks are on the same resources, in any order. */
export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  const set = new Set(a);
  return set.size === new Set(b).size && b.every((text) => set.has(text));
}

/** What `decide` makes of it; undefined where the patterns are too intricate. */
export function unlessTooIntricate<Result>(decide: () => Result): Result | undefined {
  try {
    return decide();
  } catch (error) {
    if (error instanceof TooIntricate) return undefined;
    throw error;
  }
}
