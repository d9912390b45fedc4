/**
 * What locks are on, and whether two of them are about the same thing. A resource is a glob over repository paths, or
 * `name:` with a name that only the same name is about. That two globs have a path in common is decided exactly; most
 * pairs have not, and are told apart by how their texts begin and end, before anything is taken apart.
 */
import { type Issue, type LockMode } from '@muster/registry';
import { codePoint } from './code-points.ts';
import { commonPath, type Effort, TooIntricate } from './glob-intersection.ts';
import { checkGlob, type Glob, MalformedGlob, parseGlob } from './glob-syntax.ts';

const namePrefix = 'name:';
const longestName = 200;

/** One resource, ready to be compared. */
export interface Resource {
  readonly text: string;
  /** A name is about itself alone, and so is a path without wildcards. */
  readonly exact: boolean;
  /** How every path that matches begins, and ends; where `**` stands for nothing, the path is the end but its slash. */
  readonly head: string;
  readonly tail: string;
  /** Taken apart once, when it first comes to that. */
  readonly glob: (effort: Effort) => Glob;
}

const isName = (text: string): boolean => text.startsWith(namePrefix);

/** What is wrong about a resource; undefined where nothing is. */
export function problemOf(text: string): string | undefined {
  if (isName(text)) return problemOfName(text.slice(namePrefix.length));
  try {
    checkGlob(text);
    return undefined;
  } catch (error) {
    if (error instanceof MalformedGlob) return error.message;
    throw error;
  }
}

function problemOfName(name: string): string | undefined {
  if (name.trim() === '') return 'must name something after name:';
  if (name.trim() !== name) return 'must have no space around the name';
  if (/[\u0001-\u001f\u007f\u2028\u2029]/.test(name)) return 'must have no control characters in the name';
  if (Array.from(name).length > longestName) return `must have a name of at most ${longestName} characters`;
  return undefined;
}

/** One issue for each resource that is none. */
export const issuesOf = (texts: readonly string[]): Issue[] =>
  texts.flatMap((text, index) => {
    const message = problemOf(text);
    return message === undefined ? [] : [{ path: `resources[${index}]`, message }];
  });

const special = /[*?[\]{}\\]/;
/** After these, what ends a pattern stands for itself; after a backslash one cannot tell without reading it all. */
const plainEnd = /[^*?[\]{}]*$/;

/** A resource of a lock. It was found well-formed before. */
export function resourceOf(text: string): Resource {
  const at = isName(text) ? -1 : text.search(special);
  if (at === -1) return exactly(text, parseGlob);
  return {
    text,
    exact: false,
    head: text.slice(0, at),
    tail: text.includes('\\') ? '' : (plainEnd.exec(text)?.[0] ?? ''),
    glob: once(text, parseGlob),
  };
}

/** A file of the repository, whatever characters its name has. */
export const fileOf = (path: string): Resource => exactly(path, literalGlob);

const exactly = (text: string, parse: (text: string) => Glob): Resource => ({
  text,
  exact: true,
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
  if (a.exact && b.exact) return a.text === b.text ? a.text : undefined;
  if (isName(a.text) || isName(b.text)) return undefined;
  if (!a.head.startsWith(b.head) && !b.head.startsWith(a.head)) return undefined;
  if (!a.tail.endsWith(b.tail) && !b.tail.endsWith(a.tail)) return undefined;
  return commonPath(a.glob(effort), b.glob(effort), effort);
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
