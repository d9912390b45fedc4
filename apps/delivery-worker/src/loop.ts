/** Something done again and again by this process alone, with or without Redis. */
import { setTimeout as pause } from 'node:timers/promises';

export interface Loop {
  /** Waits for the turn that runs. */
  stop(): Promise<void>;
}

/** After a turn that failed: what it needs is away, and comes back no faster for being asked. */
const pauseAfterFaultMillis = 1_000;

/** What comes after a turn: the next at once, after the usual pause, or after so many milliseconds. */
export type After = 'more' | 'rest' | number;

/** Takes turns with a pause between. Of faults in a row only the first is told. */
export function startLoop(
  pauseMillis: number,
  turn: () => Promise<After>,
  onFault: (error: unknown) => void,
): Loop {
  const stopping = new AbortController();
  const stopped = (): boolean => stopping.signal.aborted;
  const run = async (): Promise<void> => {
    let failing = false;
    while (!stopped()) {
      let wait = pauseMillis;
      try {
        const after = await turn();
        if (after !== 'rest') wait = after === 'more' ? 0 : after;
        failing = false;
      } catch (error) {
        if (!failing && !stopped()) onFault(error);
        failing = true;
        wait = Math.max(pauseMillis, pauseAfterFaultMillis);
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
