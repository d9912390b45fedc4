/**
 * Deletes rows that are past their retention, oldest first, in portions that are short enough not to block
 * callers. The next run continues an interrupted purge.
 */
import { newId, orgFilter, type Part, type Pool, type Query, sql } from '@muster/driver';
import { markReadQuery } from '@muster/notifications';
import { acrossOrganizations } from '@muster/tenancy';
import { runInBatches } from './portions.ts';
import { type PurgeRule, retention } from './retention.ts';

const batchSize = 2_000;

const purgeRules = new Map(
  Object.entries(retention).flatMap(([table, entry]): [string, readonly PurgeRule[]][] =>
    entry.retentionKind === 'purged' && entry.purge !== 'by removal' ? [[table, entry.purge]] : [],
  ),
);
export const purgedTables: readonly string[] = [...purgeRules.keys()];

/** Deletes the due rows of a table and returns their number. */
export async function purge(pool: Pool, signal: AbortSignal, table: string, days: number): Promise<number> {
  const rules = purgeRules.get(table);
  if (rules === undefined) throw new Error(`${table} is not purged`);
  let removed = 0;
  for (const rule of rules) {
    const whose =
      rule.daysSql === undefined
        ? [{ days }]
        : await findOrganizationsWithDueRows(pool, table, rule, rule.daysSql);
    for (const { orgId, days: kept } of whose)
      removed += await deleteDueRows(pool, signal, batchQueriesOf(table, rule, kept, orgId));
  }
  return removed;
}

interface OrganizationRetention {
  readonly days: number;
  /** The organization; undefined for all organizations. */
  readonly orgId?: string;
}

const daysInterval = (days: Part): Part => sql.part`make_interval(days => ${days}::int)`;

/** Lists the organizations with due rows, each with its own retention in days. */
const findOrganizationsWithDueRows = (
  pool: Pool,
  table: string,
  { isDueSql: due }: PurgeRule,
  daysOf: Part,
): Promise<readonly OrganizationRetention[]> =>
  acrossOrganizations(pool, (db) =>
    db.all(
      sql<Required<OrganizationRetention>>`select o.id as "orgId", d.days
         from orgs o left join subscriptions s on s.org_id = o.id
         cross join lateral (select ${daysOf} as days) d
         where d.days > 0 and exists (
           select 1 from ${sql.word(table)} t where t.org_id = o.id and ${due(daysInterval(sql.part`d.days`))})`,
    ),
  );

interface BatchQueries {
  readonly findRows: Part;
  readonly deleteRows: Query<unknown>;
}

function batchQueriesOf(
  table: string,
  { key, isDueSql: due, oldestFirst }: PurgeRule,
  days: number,
  orgId?: string,
): BatchQueries {
  const named = sql.columns('t', key);
  const ofThem = orgId === undefined ? sql.empty : sql.part`t.org_id = ${orgId} and`;
  const isDue = sql.part`${ofThem} ${due(daysInterval(sql.part`${days}`))}`;
  const find = sql.part`select ${named} from ${sql.word(table)} t
      where ${isDue} and ${days}::int > 0 order by ${oldestFirst} limit ${sql.literal(batchSize)}`;
  // Check the condition again when deleting, because a holder may have renewed the row.
  const remove = sql`delete from ${sql.word(table)} t where (${named}) in (${find}) and ${isDue} returning 1`;
  return { findRows: find, deleteRows: remove };
}

/**
 * Disables join plans that read the whole table. The planner underestimates their cost; an index lookup by
 * key is faster.
 */
const disableTableJoins = sql`select set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`;

async function deleteDueRows(pool: Pool, signal: AbortSignal, { deleteRows }: BatchQueries): Promise<number> {
  let removed = 0;
  for (;;) {
    signal.throwIfAborted();
    const [, rows] = await acrossOrganizations(pool, (db) =>
      Promise.all([db.all(disableTableJoins), db.all(deleteRows)]),
    );
    removed += rows.length;
    if (rows.length < batchSize) return removed;
  }
}

/**
 * Returns the query that finds a portion of a table's rows, for one organization if each has its own
 * retention.
 */
export const findQueriesOf = (table: string): Part[] =>
  (purgeRules.get(table) ?? []).map(
    (rule) => batchQueriesOf(table, rule, 90, rule.daysSql === undefined ? undefined : newId()).findRows,
  );

/** Marks unread notifications older than a year as read. */
export async function markOldNotificationsRead(pool: Pool, signal: AbortSignal): Promise<number> {
  const isOld = sql.part`n.in_inbox and n.read_at is null and n.created_at < now() - interval '365 days'`;
  const orgs = await acrossOrganizations(pool, (db) =>
    db.all(sql<{ org_id: string }>`select distinct n.org_id from notifications n where ${isOld}`),
  );
  const orgIds = orgs.map(({ org_id: orgId }) => orgId);
  return runInBatches(pool, signal, { orgIds, most: batchSize }, async (db) => {
    const { updated } = await db.one(markReadQuery(sql.part`${orgFilter('n')} and ${isOld}`, batchSize));
    return updated;
  });
}
