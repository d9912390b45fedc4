import { setTimeout as pause } from 'node:timers/promises';
import { describeExit, type ServiceProcess } from './service-process.ts';

const READY_SECONDS = 60;
/**
 * Returns the polling delay. Polling takes processor time from the awaited start, so the delay grows, to at
 * most a 25th of the time waited.
 */
const pauseAfter = (waitedMillis: number): number => Math.min(1_000, Math.max(10, waitedMillis / 25));

/** Returns when the app answers `GET /readyz` with 200. Throws if the app ends first or takes too long. */
export async function untilReady(
  name: string,
  url: string,
  service: Pick<ServiceProcess, 'isAlive' | 'exited'>,
  seconds = READY_SECONDS,
): Promise<void> {
  const began = Date.now();
  const until = began + seconds * 1000;
  let lastAnswer = 'no answer';
  while (Date.now() < until) {
    if (!service.isAlive())
      throw new Error(`${name} ended before it was ready (${describeExit(await service.exited)})`);
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(
      () => undefined,
    );
    // The body is always read, because an unread answer holds its connection.
    const body = await response?.text().catch(() => '');
    if (response?.status === 200) return;
    if (response !== undefined) lastAnswer = `${response.status}: ${body ?? ''}`;
    await pause(pauseAfter(Date.now() - began));
  }
  throw new Error(`${name} is not ready after ${seconds} s (${url}/readyz: ${lastAnswer})`);
}
