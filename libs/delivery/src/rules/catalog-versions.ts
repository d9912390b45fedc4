/** Which version of an agent is meant: by Semantic Versioning, releases before pre-releases. */
import semver from 'semver';

/** So many versions an agent has at most: they are sorted, and shown, all at once. */
export const mostVersions = 500;

const isPreRelease = (version: string): boolean => semver.prerelease(version) !== null;

/** For sorting: newest first, pre-releases after all releases. Builds of one version have an order, too. */
function compareNewest(a: string, b: string): number {
  const sides = Number(isPreRelease(a)) - Number(isPreRelease(b));
  return sides === 0 ? semver.compareBuild(b, a) : sides;
}

/** The versions, newest first. */
export const newestFirst = <Item extends { readonly version: string }>(items: readonly Item[]): Item[] =>
  items.toSorted((a, b) => compareNewest(a.version, b.version));

/** Whether the text means versions at all: one of them, or a range. */
export const isRange = (text: string): boolean => semver.validRange(text) !== null;

/** The newest version in the range; undefined where there is none. A pre-release is in it as semver has it. */
export const newestIn = (versions: readonly string[], range: string): string | undefined =>
  versions.filter((version) => semver.satisfies(version, range)).toSorted(compareNewest)[0];
