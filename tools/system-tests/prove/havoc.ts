/** Causes faults repeatedly, at random moments, until it is stopped. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Dice } from '@muster/tools';

export interface Havoc {
  /** Stops, and waits for the current fault to finish. Rejects with the error of a fault that failed. */
  readonly end: () => Promise<void>;
}

/** The bounds of the pause before each fault, in milliseconds. */
export interface Pauses {
  readonly least: number;
  readonly most: number;
}

export function wreak(dice: Dice, { least, most }: Pauses, act: () => Promise<void> | void): Havoc {
  const ending = new AbortController();
  const running = (async () => {
    for (;;) {
      await pause(dice.between(least, most), undefined, { signal: ending.signal }).catch(() => undefined);
      if (ending.signal.aborted) return;
      await act();
    }
  })();
  // `end` returns this promise and thereby reports a failure.
  running.catch(() => undefined);
  return {
    end: () => {
      ending.abort();
      return running;
    },
  };
}

/** Runs `act` and stops the faults afterwards. */
export async function runUnderFaults(havocs: readonly Havoc[], act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } finally {
    await Promise.all(havocs.map((havoc) => havoc.end()));
  }
}

/** Repeats each of `works` while `act` runs. */
export async function during(
  works: readonly (() => Promise<unknown>)[],
  act: () => Promise<void>,
): Promise<void> {
  let isOver = false;
  const working = Promise.all(
    works.map(async (work) => {
      while (!isOver) await work();
    }),
  );
  // A failure is reported where this promise is awaited.
  working.catch(() => undefined);
  try {
    await act();
  } finally {
    isOver = true;
    await working;
  }
}
