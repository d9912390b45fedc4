import leven from 'leven';

/** Returns up to three names that are most similar to a mistyped one; none if no name is similar. */
export function findSimilarNames(mistyped: string, names: readonly string[]): string[] {
  const wanted = mistyped.slice(0, 100).toLowerCase();
  const most = Math.max(2, Math.floor(wanted.length / 3));
  return names
    .map((name) => ({ name, off: leven(wanted, name.toLowerCase()) }))
    .filter(({ off }) => off <= most)
    .sort((a, b) => a.off - b.off)
    .slice(0, 3)
    .map(({ name }) => name);
}
