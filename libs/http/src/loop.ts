/** Repeats background work in one process until it stops. */
import { setTimeout as pause } from 'node:timers/promises';

export interface Loop {
  /** Starts no further turn and waits for the running one. */
  stop(): Promise<void>;
}

/** The minimum delay after a failed turn, in milliseconds. */
const retryDelayMs = 1_000;

/** The start of the next turn: immediately, after the usual delay, or after this many milliseconds. */
export type NextTurn = 'more' | 'rest' | number;

/** Runs `turn` repeatedly with a delay between turns. Only the first of consecutive failures is reported. */
export function startLoop(
  pauseMs: number,
  runTurn: () => Promise<NextTurn>,
  onFault: (error: unknown) => void,
): Loop {
  const stopping = new AbortController();
  const stopped = (): boolean => stopping.signal.aborted;
  const run = async (): Promise<void> => {
    let failing = false;
    while (!stopped()) {
      let wait = pauseMs;
      try {
        const after = await runTurn();
        if (after !== 'rest') wait = after === 'more' ? 0 : after;
        failing = false;
      } catch (error) {
        if (!failing && !stopped()) onFault(error);
        failing = true;
        wait = Math.max(pauseMs, retryDelayMs);
      }
      if (wait > 0) await pause(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    stop: () => {
      stopping.abort();
      return running;
    },
  };
}
