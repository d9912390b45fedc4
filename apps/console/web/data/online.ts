/** Tracks since when the browser has been offline, and repeats calls that fail during that time. */
import { NoAnswer, type Transport } from '@muster/client';
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

const offlineRetryDelayMs = 5_000;

/** Waits until the browser is online, or for the retry delay, because it may call a working connection offline. */
const waitForConnection = (): Promise<void> =>
  new Promise((resolve) => {
    const retry = (): void => {
      clearTimeout(timer);
      removeEventListener('online', retry);
      resolve();
    };
    const timer = setTimeout(retry, offlineRetryDelayMs);
    addEventListener('online', retry);
  });

/** Repeats calls without an answer for as long as the browser is offline. Writes need an idempotency key. */
export function repeatingWhileOffline(transport: Transport): Transport {
  return async (...call) => {
    for (;;)
      try {
        return await transport(...call);
      } catch (error) {
        if (navigator.onLine || !(error instanceof NoAnswer)) throw error;
        await waitForConnection();
      }
  };
}
