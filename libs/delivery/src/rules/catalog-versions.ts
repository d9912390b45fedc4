/** Sorts and selects versions of an agent by Semantic Versioning, with releases before pre-releases. */
import semver from 'semver';

/** The maximum number of versions of an agent. They are sorted and returned without pages. */
export const maxVersionsPerAgent = 500;

const isPreRelease = (version: string): boolean => semver.prerelease(version) !== null;

/**
 * Compares versions: newest first, and pre-releases after all releases. Build metadata also counts, which
 * makes the order total.
 */
function compareNewestFirst(a: string, b: string): number {
  const sides = Number(isPreRelease(a)) - Number(isPreRelease(b));
  return sides === 0 ? semver.compareBuild(b, a) : sides;
}

/** Sorts versions, newest first. */
export const sortNewestFirst = <Item extends { readonly version: string }>(items: readonly Item[]): Item[] =>
  items.toSorted((a, b) => compareNewestFirst(a.version, b.version));

/** Reports whether the text is a version or a range of versions. */
export const isVersionOrRange = (text: string): boolean => semver.validRange(text) !== null;

/**
 * Returns the newest version in the range; undefined if there is none. Pre-releases match by semver's rules.
 */
export const newestVersionInRange = (versions: readonly string[], range: string): string | undefined =>
  versions.filter((version) => semver.satisfies(version, range)).toSorted(compareNewestFirst)[0];
