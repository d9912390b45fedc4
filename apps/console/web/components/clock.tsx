/** Shows the remaining time of a lease, as a ring that empties and as text. */
import { useSyncExternalStore } from 'react';
import { serverNow } from '../data/time.ts';
import { formatDuration, t } from '../messages/index.ts';

/**
 * The interval of the timer that all components with a time share. The timer runs only while such a component
 * is mounted.
 */
const tickIntervalMs = 5_000;
let currentTimeMs = serverNow();
const listeners = new Set<() => void>();
let tickTimer: ReturnType<typeof setInterval> | undefined;

function subscribeToTicks(onChange: () => void): () => void {
  listeners.add(onChange);
  tickTimer ??= setInterval(() => {
    currentTimeMs = serverNow();
    for (const tell of listeners) tell();
  }, tickIntervalMs);
  return () => {
    listeners.delete(onChange);
    if (listeners.size > 0) return;
    clearInterval(tickTimer);
    tickTimer = undefined;
  };
}

export const useNow = (): number => useSyncExternalStore(subscribeToTicks, () => currentTimeMs);

const ringCircumference = 2 * Math.PI * 5;
/**
 * The remaining lease time at which the ring is full. It is the usual length of a lease, 15 minutes. The ring
 * of a longer lease stays full until 15 minutes remain.
 */
const fullRingDurationMs = 15 * 60_000;

export function LeaseClock({ expiresAt }: { readonly expiresAt: string }) {
  const left = Date.parse(expiresAt) - useNow();
  const share = Math.max(0, Math.min(1, left / fullRingDurationMs));
  const text = left > 0 ? formatDuration(left) : t.over;
  return (
    <span className="clock" title={left > 0 ? t.leaseLeft(text) : t.leaseOver}>
      <svg width="13" height="13" viewBox="0 0 14 14" aria-hidden="true">
        <circle className="rest" cx="7" cy="7" r="5" />
        <circle
          className="left"
          cx="7"
          cy="7"
          r="5"
          transform="rotate(-90 7 7)"
          strokeDasharray={`${share * ringCircumference} ${ringCircumference}`}
        />
      </svg>
      <span className="sr-only">{left > 0 ? t.leaseLeft(text) : t.leaseOver}</span>
      <span aria-hidden="true">{text}</span>
    </span>
  );
}
