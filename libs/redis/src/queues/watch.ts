/**
 * Checks that this process still works on jobs. Only taken or ended jobs count, because a connection that
 * looks healthy proves nothing.
 */
import { type Queues } from './queues.ts';
import { type RunningWorker } from './work.ts';

/** The time in milliseconds after which a queue counts as silent. It is as long as four canary intervals. */
const maxSilenceMillis = 120_000;

/**
 * Returns the queues with waiting jobs of which this process has processed none for that time, although it
 * has a free slot.
 * A silent queue without waiting jobs is served by other workers. Returns an empty list while Redis is
 * unreachable, because no worker can work then.
 */
export async function findSilentQueues(
  workers: readonly RunningWorker[],
  queues: Pick<Queues, 'waiting'>,
  now: number = Date.now(),
): Promise<string[]> {
  const silent = workers.filter((one) => !one.isBusy() && now - one.lastActivityMillis() > maxSilenceMillis);
  if (silent.length === 0) return [];
  const waiting = await queues.waiting().catch(() => undefined);
  return silent.filter(({ queue }) => (waiting?.[queue] ?? 0) > 0).map(({ queue }) => queue);
}
