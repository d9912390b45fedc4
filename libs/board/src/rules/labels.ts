/** Labels keep their spelling, and case does not matter. */

const fold = (label: string): string => label.toLowerCase();

/**
 * Returns the labels without `removed` and with `added`; the same array if nothing changes. A label that is in both
 * lists stays or is added.
 */
export function addAndRemoveLabels(
  labels: readonly string[],
  added: readonly string[],
  removed: readonly string[],
): readonly string[] {
  const addedLabels = new Set(added.map(fold));
  const removedLabels = new Set(removed.map(fold).filter((label) => !addedLabels.has(label)));
  const kept = labels.filter((label) => !removedLabels.has(fold(label)));
  const keptLabels = new Set(kept.map(fold));
  const missing = added.filter((label) => !keptLabels.has(fold(label)));
  return missing.length === 0 && kept.length === labels.length ? labels : [...kept, ...missing];
}
