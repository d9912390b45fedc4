/** Tracks since when the browser has been offline. */
import { useSyncExternalStore } from 'react';
import { serverNow } from './time.ts';

let offlineSinceMs = navigator.onLine ? null : serverNow();
const listeners = new Set<() => void>();
const setOfflineSince = (sinceMs: number | null): void => {
  offlineSinceMs = sinceMs;
  for (const changed of listeners) changed();
};
addEventListener('offline', () => setOfflineSince(serverNow()));
addEventListener('online', () => setOfflineSince(null));

const subscribeToOffline = (onChange: () => void): (() => void) => {
  listeners.add(onChange);
  return () => listeners.delete(onChange);
};

export const useOfflineSince = (): number | null =>
  useSyncExternalStore(subscribeToOffline, () => offlineSinceMs);
