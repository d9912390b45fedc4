import { setTimeout as pause } from 'node:timers/promises';
import { describeExit, type ServiceProcess } from './service-process.ts';

/** A process that is restarted whenever it ends by itself. */
export interface RestartedProcess<S extends ServiceProcess> {
  /** Returns the process that runs now or ran last. */
  current(): S;
  stop(): Promise<void>;
  kill(): void;
}

const FIRST_PAUSE_SECONDS = 0.1;
const LONGEST_PAUSE_SECONDS = 30;
/** An exit after this uptime resets the restart delay. */
const HEALTHY_SECONDS = 10;

/**
 * Starts a process and keeps it running. The first start must succeed.
 * Later each end and each failed start doubles the delay before the next start, so that a broken program does
 * not overload the machine.
 */
export async function keepRunning<S extends ServiceProcess>(
  name: string,
  start: () => Promise<S>,
  say: (line: string) => void,
): Promise<RestartedProcess<S>> {
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
      // A restart that was in progress at the time of the stop has started another process.
      await current.stop();
    },
  };
}
