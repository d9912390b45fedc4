/** Scheduled work: records events for licenses that expire or expire soon, and deletes old deliveries. */
import { newId, sql } from '@muster/driver';
import { type Db } from '../operators/transaction.ts';

/** The time before the end of a license at which its event `expiring` is recorded. */
export const expiryNoticeSeconds = 7 * 86_400;
const batchSize = 500;
const deliveryRetentionDays = 30;

/**
 * The kinds of events about the end of a license. `told` is the value of the column `expiry_told` that marks
 * the event as recorded.
 */
const expiryStages = [
  { kind: 'expired', told: 2, until: sql`clock_timestamp()` },
  {
    kind: 'expiring',
    told: 1,
    until: sql`clock_timestamp() + make_interval(secs => ${expiryNoticeSeconds})`,
  },
] as const;

/**
 * Records an event for each license that expires soon or has expired, once for each end. Skips licenses that another
 * process has locked. Returns true if more may remain.
 */
export async function recordExpiryEvents(db: Db): Promise<boolean> {
  let isMore = false;
  for (const { kind, told, until } of expiryStages) {
    const due = await db.all(sql<{
      id: string;
      epoch: number;
      expiresAt: string;
    }>`select id, epoch, expires_at as "expiresAt" from licenses.licenses
       where status = 'active' and expiry_told < 2 and expiry_told < ${told} and expires_at <= ${until}
       order by expires_at limit ${batchSize} for no key update skip locked`);
    if (due.length === 0) continue;
    const ids = due.map(({ id }) => id);
    await db.all(sql`with told as (update licenses.licenses set expiry_told = ${told} where id = any (${ids}::uuid[]))
       insert into licenses.license_events (id, license_id, kind, actor, epoch, data)
       select n.event, n.id, ${kind}, 'service', n.epoch, jsonb_build_object('expiresAt', n.ends)
       from unnest(${ids}::uuid[], ${due.map(() => newId())}::uuid[], ${due.map(({ epoch }) => epoch)}::int[],
         ${due.map(({ expiresAt }) => expiresAt)}::text[]) n (id, event, epoch, ends)`);
    isMore ||= due.length === batchSize;
  }
  return isMore;
}

/** Deletes a batch of deliveries that were settled long ago. Returns true if more may remain. */
export async function deleteOldDeliveries(db: Db): Promise<boolean> {
  const gone = await db.all(sql`delete from licenses.webhook_deliveries where id in (
       select id from licenses.webhook_deliveries
       where settled_at < clock_timestamp() - make_interval(days => ${deliveryRetentionDays}) order by settled_at limit ${batchSize})
     returning 1`);
  return gone.length === batchSize;
}
