import { setTimeout as pause } from 'node:timers/promises';
import { describeExit, type ServiceProcess } from './service-process.ts';

/** A process that is started again whenever it ends by itself. */
export interface Kept<S extends ServiceProcess> {
  /** The one that runs now, or ran last. */
  current(): S;
  stop(): Promise<void>;
  kill(): void;
}

const FIRST_PAUSE_SECONDS = 0.1;
const LONGEST_PAUSE_SECONDS = 30;
/** Up for so long, its next end counts as the first again. */
const HEALTHY_SECONDS = 10;

/**
 * Starts a process and keeps it running. The first start must succeed; afterwards each end, and each start that
 * fails, is followed by a pause twice as long as the one before, so that something broken does not burn the machine.
 */
export async function keepRunning<S extends ServiceProcess>(
  name: string,
  start: () => Promise<S>,
  say: (line: string) => void,
): Promise<Kept<S>> {
  let current = await start();
  const stopped = new AbortController();
  const isStopped = (): boolean => stopped.signal.aborted;

  const startAgain = async (failures: number): Promise<void> => {
    const seconds = Math.min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (failures - 1));
    say(`${name} is started again in ${seconds.toFixed(1)} s`);
    await pause(seconds * 1000, undefined, { signal: stopped.signal });
    current = await start();
  };

  const watch = async (): Promise<void> => {
    let failures = 0;
    while (!isStopped()) {
      const upSince = Date.now();
      const exit = await current.exited;
      if (isStopped()) return;
      say(`${name} ended (${describeExit(exit)})`);
      if (Date.now() - upSince > HEALTHY_SECONDS * 1000) failures = 0;
      do {
        failures += 1;
        await startAgain(failures).catch((error: unknown) => {
          if (!isStopped()) say(error instanceof Error ? error.message : String(error));
        });
      } while (!current.isAlive() && !isStopped());
    }
  };
  const watching = watch();

  return {
    current: () => current,
    kill: () => {
      stopped.abort();
      current.kill();
    },
    stop: async () => {
      stopped.abort();
      await current.stop();
      await watching;
      // A start that was under way when the stop came has brought up another one.
      await current.stop();
    },
  };
}
