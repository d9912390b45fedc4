/**
 * Notifies the person at the terminal when Muster stops answering and when it answers again. Running
 * work continues, and a runner that waits for a story keeps waiting.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type RunnerSession } from './session.ts';

/**
 * The interval between two probes. It and the probe's timeout add up to less than ten seconds, within which
 * an outage must be reported.
 */
const probeIntervalMs = 5_000;
const probeTimeoutMs = 4_000;

const isReachable = (baseUrl: string): Promise<boolean> =>
  fetch(new URL('/livez', baseUrl), { signal: AbortSignal.timeout(probeTimeoutMs) }).then(
    ({ status }) => status < 500,
    () => false,
  );

export async function watchReachability(
  { connection: { baseUrl }, say }: Pick<RunnerSession, 'connection' | 'say'>,
  endSignal: AbortSignal,
): Promise<void> {
  let awaySince: number | undefined;
  const isOver = (): boolean => endSignal.aborted;
  while (!isOver()) {
    const began = performance.now();
    const isThere = await isReachable(baseUrl);
    if (isOver()) return;
    if (!isThere && awaySince === undefined) {
      awaySince = began;
      say.warn('Muster cannot be reached; the runner continues, and reports its work when Muster is back');
    }
    if (isThere && awaySince !== undefined) {
      say.warn(
        `Muster can be reached again after an outage of ${Math.round((performance.now() - awaySince) / 1_000)} s`,
      );
      awaySince = undefined;
    }
    await pause(probeIntervalMs, undefined, { signal: endSignal }).catch(() => undefined);
  }
}
