/**
 * The resources of locks, and the check for overlap. A resource is a path with everything below it, a glob
 * over repository paths, or `name:` with a name that overlaps only with itself. The check decides exactly if
 * two globs share a path. Most pairs are decided by their first and last characters, before any glob is
 * parsed.
 */
import { type Issue, type LockMode } from '@muster/contract';
import {
  codePointSetOf,
  type Glob,
  isNameResource,
  parseGlob,
  problemOfResource,
} from '@muster/contract/globs';
import { commonPath, type StepBudget, PatternsTooComplex } from './glob-intersection.ts';

/** A resource prepared for comparison. */
export interface Resource {
  readonly text: string;
  /** True if the text is a literal path or name, without wildcards and escapes. */
  readonly isLiteral: boolean;
  /**
   * True if the resource also covers every path below `text`. It is set for literal resources only. A glob
   * expresses this by its segments.
   */
  readonly coversSubpaths: boolean;
  /**
   * The text with which every matching path begins, and the text with which it ends. If a `**` matches zero
   * segments, the path equals the tail without its slash.
   */
  readonly literalPrefix: string;
  readonly literalSuffix: string;
  /** Returns the parsed glob. The first call parses it. */
  readonly glob: (stepBudget: StepBudget) => Glob;
}

/** Returns one validation issue for each invalid resource. */
export const validateResources = (texts: readonly string[]): Issue[] =>
  texts.flatMap((text, index) => {
    const message = problemOfResource(text);
    return message === undefined ? [] : [{ path: `resources[${index}]`, message }];
  });

const globCharacters = /[*?[\]{}\\]/;
/** Reports whether the text is a path without unescaped wildcards. */
const isPlainPath = (text: string): boolean => !/[*?[\]{}]/.test(text.replaceAll(/\\./gsu, ''));
/** Matches the literal end of a pattern. After a backslash the end cannot be found without parsing. */
const literalSuffixPattern = /[^*?[\]{}]*$/;

/**
 * Returns the resource of a validated text. A stored lock may be older than the normalized form, so it is
 * normalized again.
 */
export function parseResource(storedText: string): Resource {
  const text = storedText.normalize('NFC');
  if (isNameResource(text)) return { ...literalResource(text, parseGlob), coversSubpaths: false };
  if (!globCharacters.test(text))
    return { ...literalResource(text, parsePathAndBelow), literalSuffix: '', coversSubpaths: true };
  const isPath = isPlainPath(text);
  return {
    text,
    isLiteral: false,
    coversSubpaths: false,
    literalPrefix: text.slice(0, text.search(globCharacters)),
    literalSuffix: isPath || text.includes('\\') ? '' : (literalSuffixPattern.exec(text)?.[0] ?? ''),
    glob: parseOnce(text, isPath ? parsePathAndBelow : parseGlob),
  };
}

/**
 * Parses a path as a glob for itself and everything below. A written glob's final `**` would not match the
 * path itself.
 */
const parsePathAndBelow = (path: string): Glob => [...parseGlob(path), null];

/** Returns the resource for one file of the repository. All characters of its name are literal. */
export const fileResource = (path: string): Resource => literalResource(path.normalize('NFC'), literalGlob);

const literalResource = (text: string, parse: (text: string) => Glob): Resource => ({
  text,
  isLiteral: true,
  coversSubpaths: false,
  literalPrefix: text,
  literalSuffix: text,
  glob: parseOnce(text, parse),
});

const literalGlob = (path: string): Glob =>
  path
    .split('/')
    .map((segment) => Array.from(segment, (char) => ({ kind: 'one', of: codePointSetOf(char) }) as const));

function parseOnce(text: string, parse: (text: string) => Glob): Resource['glob'] {
  let glob: Glob | undefined;
  return (stepBudget) => {
    if (glob === undefined) {
      stepBudget.spend(text.length);
      glob = parse(text);
    }
    return glob;
  };
}

/** Returns a path or name that both resources cover; undefined if there is none. Throws PatternsTooComplex. */
export function findWitness(a: Resource, b: Resource, stepBudget: StepBudget): string | undefined {
  if (a.isLiteral && b.isLiteral) return commonLiteral(a, b);
  if (isNameResource(a.text) || isNameResource(b.text)) return undefined;
  if (!a.literalPrefix.startsWith(b.literalPrefix) && !b.literalPrefix.startsWith(a.literalPrefix))
    return undefined;
  if (!a.literalSuffix.endsWith(b.literalSuffix) && !b.literalSuffix.endsWith(a.literalSuffix))
    return undefined;
  return commonPath(a.glob(stepBudget), b.glob(stepBudget), stepBudget);
}

function commonLiteral(a: Resource, b: Resource): string | undefined {
  const [outer, inner] = a.text.length < b.text.length ? [a, b] : [b, a];
  const overlap =
    outer.text === inner.text || (outer.coversSubpaths && inner.text.startsWith(`${outer.text}/`));
  return overlap ? inner.text : undefined;
}

/** Two overlapping resources with a common path or name. */
export interface Overlap<A, B> {
  readonly resource: A;
  readonly otherResource: B;
  readonly witness: string;
}

/** Lists pairs of overlapping resources, one from each side, at most `most` of them. */
export function findOverlaps<A extends Resource, B extends Resource>(
  left: readonly A[],
  right: readonly B[],
  stepBudget: StepBudget,
  maxOverlaps: number,
): Overlap<A, B>[] {
  const found: Overlap<A, B>[] = [];
  for (const b of right) {
    for (const a of left) {
      const witness = findWitness(a, b, stepBudget);
      if (witness === undefined) continue;
      found.push({ resource: a, otherResource: b, witness });
      if (found.length >= maxOverlaps) return found;
    }
  }
  return found;
}

/** The properties of a lock that decide if it conflicts with another one. */
export interface LockClaim {
  readonly mode: LockMode;
  readonly resources: readonly string[];
}

const areBothShared = (a: LockClaim, b: LockClaim): boolean => a.mode === 'shared' && b.mode === 'shared';

/** A resource together with its lock. */
interface ResourceOfLock<Lock> extends Resource {
  readonly lock: Lock;
}

/**
 * Lists the resources in locks of other holders that conflict with a claim, at most `most` of them. Throws
 * PatternsTooComplex.
 */
export function findConflicts<Lock extends LockClaim>(
  claim: LockClaim,
  otherLocks: readonly Lock[],
  stepBudget: StepBudget,
  maxConflicts: number,
): Overlap<Resource, ResourceOfLock<Lock>>[] {
  const asked = claim.resources.map(parseResource);
  const held = otherLocks
    .filter((lock) => !areBothShared(claim, lock))
    .flatMap((lock) =>
      lock.resources.map((text): ResourceOfLock<Lock> => ({ ...parseResource(text), lock })),
    );
  return findOverlaps(asked, held, stepBudget, maxConflicts);
}

/** Reports whether two locks have the same resources in any order. */
export function hasSameResources(a: readonly string[], b: readonly string[]): boolean {
  const set = new Set(a);
  return set.size === new Set(b).size && b.every((text) => set.has(text));
}

/** Returns the result of `decide`; undefined if the patterns are too expensive to compare. */
export function undefinedIfTooComplex<Result>(compare: () => Result): Result | undefined {
  try {
    return compare();
  } catch (error) {
    if (error instanceof PatternsTooComplex) return undefined;
    throw error;
  }
}
