/** The job of the queue `leases`: records expired leases and schedules the next sweep. */
import { type Pool } from '@muster/driver';
import { forEachNode } from '@muster/placement';
import { type Queues } from '@muster/redis/queues';
import { type IncrementCounter } from './counters.ts';
import { purge } from './purge.ts';
import { maxSweepDelayMillis, sweepExpiredLeases } from './sweep.ts';

export interface ExpiryContext {
  readonly pool: Pool;
  readonly queues: Pick<Queues, 'runAfter'>;
  readonly incrementCounter: IncrementCounter;
  readonly retentionDays: number;
}

/**
 * Records expired leases and purges expired locks. Locks of an execution are not purged, because its holder
 * may resume after the expiry.
 */
export async function recordExpiredLeases(
  { pool, queues, incrementCounter: count, retentionDays }: ExpiryContext,
  signal: AbortSignal,
): Promise<void> {
  await forEachNode(pool, async (at) => {
    const nextMs = await sweepExpiredLeases(at.pool, (expiries) => {
      count('expiredLeases', expiries);
    });
    if (nextMs < maxSweepDelayMillis) await queues.runAfter('leases.sweep', nextMs);
    await purge(at.pool, signal, 'locks', retentionDays);
  });
}
