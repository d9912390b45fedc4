/** Reads the output of a runner: the lines of `muster work --json`. */
import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Readable } from 'node:stream';

export interface RunnerEvent {
  /** Null if the line is about no story. */
  readonly story: string | null;
  /** The runner's name of the event, or `stderr` for a line of standard error. */
  readonly event: string;
  readonly message: string;
  readonly folder?: string;
  readonly branch?: string;
  readonly outcome?: string;
  readonly kept?: string | null;
}

export interface RunnerOutput {
  /** The events so far, oldest first. */
  readonly events: readonly RunnerEvent[];
  /** Returns the first matching event since the start. Returns undefined if the runner ended without one. */
  waitFor(event: string, message?: RegExp): Promise<RunnerEvent | undefined>;
  /** The exit code, once all output has arrived. Null if a signal ended the runner. */
  readonly exitCode: Promise<number | null>;
}

type OutputProcess = ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };

/** Reads all output of a runner. `hear` receives each event as it arrives. */
export function readRunner(
  child: OutputProcess,
  onEvent: (event: RunnerEvent) => void = () => undefined,
): RunnerOutput {
  const told: RunnerEvent[] = [];
  const waiting = new Set<() => void>();
  const look = (): void => {
    for (const one of waiting) one();
  };
  const tell = (one: RunnerEvent): void => {
    told.push(one);
    onEvent(one);
    look();
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    tell(JSON.parse(line) as RunnerEvent);
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
    events: told,
    exitCode: ended,
    waitFor: (event, message = /(?:)/) =>
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
