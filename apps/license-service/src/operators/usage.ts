/** Reads, resets and limits the usage of a license for operators, and deletes old ids of usage events. */
import { sql } from '@muster/driver';
import { type LicenseMeters, type MeterUsageRecord } from '../meters.ts';
import { recordEvent, updateLicense } from './change.ts';
import { type License, type LicenseRef, lockLicense } from './license.ts';
import { type Db, RefusedError } from './transaction.ts';

const currentPeriodSql = sql`case when t.value->>'period' = 'total' then 'total'
  else to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM') end`;

/** Lists the usage of all meters of a license in the current period. */
export const listCurrentUsage = (db: Db, { id, meters }: License): Promise<MeterUsageRecord[]> =>
  db.all(sql<MeterUsageRecord>`select t.key as meter, ${currentPeriodSql} as period, coalesce(u.used, 0) as used,
       (t.value->>'limit')::bigint as "limit"
     from jsonb_each(${meters}::jsonb) t
     left join licenses.license_usage u on u.license_id = ${id} and u.meter = t.key and u.period = ${currentPeriodSql}
     order by t.key`);

/** The most rows of one month. Meters that were removed still have their rows. */
const maxUsageRows = 200;

/** Lists the usage of a license in one month, such as `2027-03`. The limits are the current ones. */
export const listUsageOfMonth = (
  db: Db,
  { id, meters }: License,
  month: string,
): Promise<MeterUsageRecord[]> =>
  db.all(sql<MeterUsageRecord>`select meter, period, used, (${meters}::jsonb -> meter ->> 'limit')::bigint as "limit"
     from licenses.license_usage where license_id = ${id} and period = ${month} order by meter limit ${maxUsageRows}`);

/** Sets the usage of a meter in the current period to zero. Counted events stay known, so they are not counted again. */
export async function resetUsage(
  db: Db,
  ref: LicenseRef,
  meter: string,
): Promise<{ license: License; before: MeterUsageRecord }> {
  const license = await lockLicense(db, ref);
  const before = (await listCurrentUsage(db, license)).find((one) => one.meter === meter);
  if (before === undefined) throw new RefusedError('unknown_meter', `this license has no meter ${meter}`);
  if (before.used === 0) return { license, before };
  await db.all(sql`update licenses.license_usage set used = 0, updated_at = clock_timestamp()
     where license_id = ${license.id} and meter = ${meter} and period = ${before.period}`);
  await recordEvent(db, license, 'usage_reset', { meter, period: before.period, used: before.used });
  return { license, before };
}

/** Changes the license's own meters. They apply to the next reported event. */
export async function setMeters(
  db: Db,
  ref: LicenseRef,
  metersOf: (own: LicenseMeters) => LicenseMeters,
): Promise<License> {
  const license = await lockLicense(db, ref);
  const meters = metersOf(license.ownMeters);
  return updateLicense(db, license, 'entitled', {
    set: sql`meters = ${meters}`,
    data: { metersBefore: license.ownMeters, meters },
  });
}

/** An event may be reported for 35 days after its time, which may be a day ahead. Its id is kept for longer. */
const eventIdRetentionDays = 37;
const batchSize = 2_000;

/** Deletes a batch of ids of events that can no longer be reported. Returns true if more may remain. */
export async function deleteOldUsageEvents(db: Db): Promise<boolean> {
  const gone = await db.all(sql`delete from licenses.license_usage_events e using (
       select license_id, event_id from licenses.license_usage_events
       where recorded_at < clock_timestamp() - make_interval(days => ${eventIdRetentionDays})
       order by recorded_at limit ${batchSize}) old
     where e.license_id = old.license_id and e.event_id = old.event_id returning 1`);
  return gone.length === batchSize;
}
