/**
 * Maintains monthly partitions of growing tables. Partitions are created in advance. An audit partition is
 * dropped when it is older than any organization's retention; retention.ts deletes the rows of organizations
 * with a shorter one.
 */
import { type Pool, sql } from '@muster/driver';
import { acrossOrganizations } from '@muster/tenancy';
import { auditRetentionDaysSql } from './retention.ts';

export interface PartitionChange {
  /** Name of the partition, such as audit_2026_11. */
  readonly month: string;
  readonly done: 'made' | 'dropped';
}

/**
 * Creates and drops partitions. Throws if another transaction locks the tables for more than a second; the
 * next turn tries again.
 */
export const maintainMonthlyPartitions = (pool: Pool): Promise<PartitionChange[]> =>
  acrossOrganizations(pool, (db) =>
    db.all(
      sql<PartitionChange>`select m.month, m.done from (
           select max(${auditRetentionDaysSql}) as days from orgs o left join subscriptions s on s.org_id = o.id) longest,
         app.keep_months(longest.days) m`,
    ),
  );
