/** Something that goes wrong again and again, at moments that dice decide, until it is told to end. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Dice } from '@muster/tools';

export interface Havoc {
  /** Waits for what it is at; throws what that threw. */
  readonly end: () => Promise<void>;
}

/** The pause before each, in milliseconds. */
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
  // Its failure is met at the end.
  running.catch(() => undefined);
  return {
    end: () => {
      ending.abort();
      return running;
    },
  };
}

/** Ends them once something is done. */
export async function whileWreaking(havocs: readonly Havoc[], act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } finally {
    await Promise.all(havocs.map((havoc) => havoc.end()));
  }
}

/** Does each of `works` again and again while something happens. */
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
  // Its failure is met where it is waited for.
  working.catch(() => undefined);
  try {
    await act();
  } finally {
    isOver = true;
    await working;
  }
}
