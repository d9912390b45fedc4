/** Tracks since when the browser has been offline. */
import { useSyncExternalStore } from 'react';
import { serverNow } from './time.ts';

let offlineSince = navigator.onLine ? null : serverNow();
const watchers = new Set<() => void>();
const change = (since: number | null): void => {
  offlineSince = since;
  for (const changed of watchers) changed();
};
addEventListener('offline', () => change(serverNow()));
addEventListener('online', () => change(null));

const subscribe = (changed: () => void): (() => void) => {
  watchers.add(changed);
  return () => watchers.delete(changed);
};

export const useOfflineSince = (): number | null => useSyncExternalStore(subscribe, () => offlineSince);
