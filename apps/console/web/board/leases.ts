/** Clocks that run out: a renewal is no event, so a card whose lease would be over soon is read again. */
import { useEffect } from 'react';
import { type Board } from '../data/boards.ts';
import { timeNow } from '../data/time.ts';

const lookMillis = 15_000;
const soonMillis = 30_000;
/** Of a lease that stays over, so long after its end no more is asked. */
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
