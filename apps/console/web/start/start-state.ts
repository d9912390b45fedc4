/** Keeps in this browser which steps of the first run are skipped, and whether the navigation lists it. */
import { useSyncExternalStore } from 'react';
import { useIdentity } from '../data/context.ts';

export type StartStep = 'project' | 'agent' | 'people';

const listeners = new Set<() => void>();
const subscribe = (changed: () => void): (() => void) => {
  listeners.add(changed);
  return () => listeners.delete(changed);
};

interface StartState {
  /** True if the navigation lists the first run; null if it was never opened here. */
  readonly isListed: boolean | null;
  readonly skipped: readonly string[];
  readonly write: (isListed: boolean, skipped: readonly string[]) => void;
}

/** Reads the state of the viewer's organization, which is stored as a text such as `listed project,agent`. */
export function useStartState(): StartState {
  const key = `muster.start.${useIdentity().org.id}`;
  const stored = useSyncExternalStore(subscribe, () => localStorage.getItem(key));
  const [state, skipped = ''] = stored?.split(' ') ?? [];
  return {
    isListed: state === undefined ? null : state === 'listed',
    skipped: skipped.split(',').filter((step) => step !== ''),
    write: (isListed, steps) => {
      localStorage.setItem(key, `${isListed ? 'listed' : 'hidden'} ${steps.join(',')}`);
      for (const changed of listeners) changed();
    },
  };
}
