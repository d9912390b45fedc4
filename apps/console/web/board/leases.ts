/**
 * Keeps the leases on cards current. A renewal is no event, so a card whose lease is about to expire is
 * fetched again.
 */
import { useEffect } from 'react';
import { type Board } from '../data/boards.ts';
import { timeNow } from '../data/time.ts';

const lookMillis = 15_000;
const soonMillis = 30_000;
/** The time after which an expired lease is no longer fetched, in milliseconds. */
const longOverMillis = 10 * 60_000;

export function useLeasesKept(board: Board): void {
  useEffect(() => {
    const look = (): void => {
      if (document.hidden) return;
      const now = timeNow();
      const due = [...board.cards()].filter(({ execution }) => {
        if (execution?.expiresAt == null || execution.state === 'stalled') return false;
        const left = Date.parse(execution.expiresAt) - now;
        return left < soonMillis && left > -longOverMillis;
      });
      board.ask(due.map(({ id }) => id));
    };
    const timer = setInterval(look, lookMillis);
    return () => clearInterval(timer);
  }, [board]);
}
