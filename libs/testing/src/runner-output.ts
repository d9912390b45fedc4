/** What a runner says while it runs: the lines of `muster work --json`. */
import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Readable } from 'node:stream';

export interface Told {
  /** Null where it is about none. */
  readonly story: string | null;
  /** As the runner names it; `stderr` where it was said there. */
  readonly event: string;
  readonly message: string;
  readonly folder?: string;
  readonly branch?: string;
  readonly outcome?: string;
  readonly kept?: string | null;
}

export interface RunnerOutput {
  /** What it has told so far, oldest first. */
  readonly told: readonly Told[];
  /** The first such thing, from the beginning on; undefined where it ended without. */
  until(event: string, message?: RegExp): Promise<Told | undefined>;
  /** Its exit code, once all that it told is there; null where a signal ended it. */
  readonly ended: Promise<number | null>;
}

type Speaking = ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };

/** Reads all that a runner says. `hear` gets each thing as it comes. */
export function readRunner(child: Speaking, hear: (one: Told) => void = () => undefined): RunnerOutput {
  const told: Told[] = [];
  const waiting = new Set<() => void>();
  const look = (): void => {
    for (const one of waiting) one();
  };
  const tell = (one: Told): void => {
    told.push(one);
    hear(one);
    look();
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    tell(JSON.parse(line) as Told);
  });
  createInterface({ input: child.stderr }).on('line', (message) => {
    tell({ story: null, event: 'stderr', message });
  });
  let isOver = false;
  const ended = once(child, 'close').then(([code]) => {
    isOver = true;
    look();
    return code as number | null;
  });
  return {
    told,
    ended,
    until: (event, message = /(?:)/) =>
      new Promise((resolve) => {
        const see = (): void => {
          const found = told.find((one) => one.event === event && message.test(one.message));
          if (found === undefined && !isOver) return;
          waiting.delete(see);
          resolve(found);
        };
        waiting.add(see);
        see();
      }),
  };
}
