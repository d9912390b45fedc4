/**
 * What grows with all that happens is kept by month. Months are made ahead; one of the audit goes as a whole when it ended
 * longer ago than any organization keeps its entries, and the entries of those that keep them less long go row by row
 * before (retention.ts).
 */
import { type Pool, sql } from '@muster/driver';
import { acrossOrganizations } from '@muster/tenancy';
import { daysOfAudit } from './retention.ts';

export interface MonthChange {
  /** Such as audit_2026_11. */
  readonly month: string;
  readonly done: 'made' | 'dropped';
}

/** Throws where another transaction holds the tables for longer than a second; the next turn tries again. */
export const keepMonths = (pool: Pool): Promise<MonthChange[]> =>
  acrossOrganizations(pool, (db) =>
    db.all(
      sql<MonthChange>`select m.month, m.done from (
           select max(${daysOfAudit}) as days from orgs o left join subscriptions s on s.org_id = o.id) longest,
         app.keep_months(longest.days) m`,
    ),
  );
