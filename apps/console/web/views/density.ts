/** The height of rows, which is a setting of this browser. */
import { useSyncExternalStore } from 'react';

export const densities = ['comfortable', 'compact'] as const;
export type Density = (typeof densities)[number];

const storageKey = 'muster.density';
const listeners = new Set<() => void>();
const readDensity = (): Density =>
  localStorage.getItem(storageKey) === 'compact' ? 'compact' : 'comfortable';

export function setDensity(density: Density): void {
  localStorage.setItem(storageKey, density);
  for (const changed of listeners) changed();
}

export const useDensity = (): Density =>
  useSyncExternalStore((changed) => {
    listeners.add(changed);
    return () => listeners.delete(changed);
  }, readDensity);
