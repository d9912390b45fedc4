/** Labels keep their spelling, and case does not matter. */

const foldCase = (label: string): string => label.toLowerCase();

/**
 * Returns the labels without `removed` and with `added`; the same array if nothing changes. A label that is in both
 * lists stays or is added.
 */
export function addAndRemoveLabels(
  labels: readonly string[],
  added: readonly string[],
  removed: readonly string[],
): readonly string[] {
  const addedLabels = new Set(added.map(foldCase));
  const removedLabels = new Set(removed.map(foldCase).filter((label) => !addedLabels.has(label)));
  const kept = labels.filter((label) => !removedLabels.has(foldCase(label)));
  const keptLabels = new Set(kept.map(foldCase));
  const missing = added.filter((label) => !keptLabels.has(foldCase(label)));
  return missing.length === 0 && kept.length === labels.length ? labels : [...kept, ...missing];
}
