/** Whether this process still works, told by what it does: a connection that looks well proves nothing. */
import { type Queues } from './queues.ts';
import { type Working } from './work.ts';

/** Four canaries. */
const silenceMillis = 120_000;

/**
 * The queues in which work waits though this process has shown no sign for so long and has a hand free. Where other
 * workers serve a queue nothing waits in it, and a silent one is no harm. Empty while Redis is away: no worker can work.
 */
export async function silentQueues(
  working: readonly Working[],
  queues: Pick<Queues, 'waiting'>,
  now: number = Date.now(),
): Promise<string[]> {
  const silent = working.filter((one) => !one.isBusy() && now - one.lastSign() > silenceMillis);
  if (silent.length === 0) return [];
  const waiting = await queues.waiting().catch(() => undefined);
  return silent.filter(({ queue }) => (waiting?.[queue] ?? 0) > 0).map(({ queue }) => queue);
}
