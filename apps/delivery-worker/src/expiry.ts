/** The job of the queue `leases`: what has expired is noted, and the next sweep is set for the next expiry. */
import { type Pool } from '@muster/driver';
import { forEachNode } from '@muster/placement';
import { type Queues } from '@muster/redis/queues';
import { type Count } from './counters.ts';
import { purge } from './purge.ts';
import { longestPauseMillis, sweep } from './sweep.ts';

export interface ExpiryContext {
  readonly pool: Pool;
  readonly queues: Pick<Queues, 'runAfter'>;
  readonly count: Count;
  readonly retentionDays: number;
}

/** Locks of an execution go with it, however late: its holder may go on after its time. */
export async function noteExpired(
  { pool, queues, count, retentionDays }: ExpiryContext,
  signal: AbortSignal,
): Promise<void> {
  await forEachNode(pool, async (at) => {
    const nextMs = await sweep(at.pool, (expiries) => {
      count('expiredLeases', expiries);
    });
    if (nextMs < longestPauseMillis) await queues.runAfter('leases.sweep', nextMs);
    await purge(at.pool, signal, 'locks', retentionDays);
  });
}
