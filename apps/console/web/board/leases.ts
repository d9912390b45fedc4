/**
 * Keeps the leases on cards current. A renewal is no event, so a card whose lease is about to expire is
 * fetched again.
 */
import { useEffect } from 'react';
import { type Board } from '../data/boards.ts';
import { serverNow } from '../data/time.ts';

const checkIntervalMs = 15_000;
const refetchBeforeExpiryMs = 30_000;
/** The time after which an expired lease is no longer fetched, in milliseconds. */
const maxExpiredMs = 10 * 60_000;

export function useExpiringLeaseRefresh(board: Board): void {
  useEffect(() => {
    const look = (): void => {
      if (document.hidden) return;
      const now = serverNow();
      const due = [...board.cards()].filter(({ execution }) => {
        if (execution?.expiresAt == null || execution.state === 'stalled') return false;
        const left = Date.parse(execution.expiresAt) - now;
        return left < refetchBeforeExpiryMs && left > -maxExpiredMs;
      });
      board.refreshCards(due.map(({ id }) => id));
    };
    const timer = setInterval(look, checkIntervalMs);
    return () => clearInterval(timer);
  }, [board]);
}
