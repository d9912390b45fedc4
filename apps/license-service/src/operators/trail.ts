/** Reads the events of licenses, the counts of refusals, and statistics. */
import { sql } from '@muster/driver';
import { type DenialRecord, type EventRecord } from '../api/records.ts';
import { type Db } from './transaction.ts';

/** Lists the events of one license or of all licenses, the newest first. */
export const listEvents = (db: Db, licenseId: string | undefined, limit: number): Promise<EventRecord[]> =>
  db.all(
    sql<EventRecord>`select e.id, e.license_id as "licenseId", l.key_hint as hint, e.kind, e.actor,
        e.actor_ref as "actorRef", e.epoch, e.data, e.at
      from licenses.license_events e join licenses.licenses l on l.id = e.license_id
      ${licenseId === undefined ? sql`` : sql`where e.license_id = ${licenseId}`}
      order by e.id desc limit ${limit}`,
  );

export const listDenials = (db: Db, licenseId: string, limit: number): Promise<DenialRecord[]> =>
  db.all(sql<DenialRecord>`select day::text, outcome, count, last_at as "lastAt" from licenses.license_denials
     where license_id = ${licenseId} order by day desc, outcome limit ${limit}`);

export interface PlanLicenseCounts {
  readonly product: string;
  readonly plan: string;
  readonly issued: number;
  readonly activated: number;
  readonly bound: number;
  /** The number of machines that hold licenses of this plan. */
  readonly machines: number;
  readonly expired: number;
  readonly suspended: number;
  readonly revoked: number;
  /** The number of licenses that some machine used within the last thirty days. */
  readonly seen: number;
}

/** Counts licenses per plan. It reads every license, so it is meant for occasional use, not for a dashboard. */
export const countLicensesByPlan = (db: Db): Promise<PlanLicenseCounts[]> =>
  db.all(sql<PlanLicenseCounts>`select product, plan, count(*)::int as issued, count(activated_at)::int as activated,
       count(held.used)::int as bound, coalesce(sum(held.used), 0)::int as machines,
       (count(*) filter (where status = 'active' and expires_at <= clock_timestamp()))::int as expired,
       (count(*) filter (where status = 'suspended'))::int as suspended,
       (count(*) filter (where status = 'revoked'))::int as revoked,
       (count(*) filter (where last_seen_at > clock_timestamp() - interval '30 days'))::int as seen
     from licenses.licenses l left join (
       select license_id, count(*) as used from licenses.held_machines group by license_id) held on license_id = l.id
     group by product, plan order by product, plan`);

export interface TrialCounts {
  readonly product: string;
  readonly begun: number;
  /** The number of unexpired trials without a license. */
  readonly running: number;
  /** The number of trials whose machine activated a key, during or after the trial. */
  readonly converted: number;
}

/** Counts trials per product. Products without trials are missing. */
export const countTrialsByProduct = (db: Db): Promise<TrialCounts[]> =>
  db.all(sql<TrialCounts>`select product, count(*)::int as begun, count(converted_at)::int as converted,
       (count(*) filter (where converted_at is null and ends_at > clock_timestamp()))::int as running
     from licenses.trials group by product order by product`);

export const countRecentDenials = (db: Db, days: number): Promise<{ outcome: string; count: number }[]> =>
  db.all(sql<{
    outcome: string;
    count: number;
  }>`select outcome, sum(count)::int as count from licenses.license_denials
     where day > (clock_timestamp() at time zone 'UTC')::date - ${days}::int group by outcome order by outcome`);

/** Counts the stored machines per pepper. */
export const countMachinesByPepper = (db: Db): Promise<{ pepperId: string; machines: number }[]> =>
  db.all(sql<{
    pepperId: string;
    machines: number;
  }>`select pepper_id as "pepperId", count(*)::int as machines from licenses.held_machines
     group by pepper_id order by pepper_id`);
