/**
 * Deletes rows that are past their retention, oldest first, in portions that are short enough not to block
 * callers. The next run continues an interrupted purge.
 */
import { newId, of, type Part, type Pool, type Query, sql } from '@muster/driver';
import { markRead } from '@muster/notifications';
import { acrossOrganizations } from '@muster/tenancy';
import { inPortions } from './portions.ts';
import { type Purge, retention } from './retention.ts';

const portion = 2_000;

const purges = new Map(
  Object.entries(retention).flatMap(([table, entry]): [string, readonly Purge[]][] =>
    entry.kept === 'purged' && entry.purge !== 'by removal' ? [[table, entry.purge]] : [],
  ),
);
export const purgedTables: readonly string[] = [...purges.keys()];

/** Deletes the due rows of a table and returns their number. */
export async function purge(pool: Pool, signal: AbortSignal, table: string, days: number): Promise<number> {
  const rules = purges.get(table);
  if (rules === undefined) throw new Error(`${table} is not purged`);
  let removed = 0;
  for (const rule of rules) {
    const whose = rule.daysOf === undefined ? [{ days }] : await keepersOf(pool, table, rule, rule.daysOf);
    for (const { orgId, days: kept } of whose)
      removed += await removeDue(pool, signal, portionOf(table, rule, kept, orgId));
  }
  return removed;
}

interface Keeper {
  readonly days: number;
  /** The organization; undefined for all organizations. */
  readonly orgId?: string;
}

const daysAs = (days: Part): Part => sql.part`make_interval(days => ${days}::int)`;

/** Lists the organizations with due rows, each with its own retention in days. */
const keepersOf = (pool: Pool, table: string, { due }: Purge, daysOf: Part): Promise<readonly Keeper[]> =>
  acrossOrganizations(pool, (db) =>
    db.all(
      sql<Required<Keeper>>`select o.id as "orgId", d.days
         from orgs o left join subscriptions s on s.org_id = o.id
         cross join lateral (select ${daysOf} as days) d
         where d.days > 0 and exists (
           select 1 from ${sql.word(table)} t where t.org_id = o.id and ${due(daysAs(sql.part`d.days`))})`,
    ),
  );

interface Portion {
  readonly find: Part;
  readonly remove: Query<unknown>;
}

function portionOf(table: string, { key, due, oldestFirst }: Purge, days: number, orgId?: string): Portion {
  const named = sql.columns('t', key);
  const ofThem = orgId === undefined ? sql.empty : sql.part`t.org_id = ${orgId} and`;
  const isDue = sql.part`${ofThem} ${due(daysAs(sql.part`${days}`))}`;
  const find = sql.part`select ${named} from ${sql.word(table)} t
      where ${isDue} and ${days}::int > 0 order by ${oldestFirst} limit ${sql.literal(portion)}`;
  // Check the condition again when deleting, because a holder may have renewed the row.
  const remove = sql`delete from ${sql.word(table)} t where (${named}) in (${find}) and ${isDue} returning 1`;
  return { find, remove };
}

/**
 * Disables join plans that read the whole table. The planner underestimates their cost; an index lookup by
 * key is faster.
 */
const byKey = sql`select set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`;

async function removeDue(pool: Pool, signal: AbortSignal, { remove }: Portion): Promise<number> {
  let removed = 0;
  for (;;) {
    signal.throwIfAborted();
    const [, rows] = await acrossOrganizations(pool, (db) => Promise.all([db.all(byKey), db.all(remove)]));
    removed += rows.length;
    if (rows.length < portion) return removed;
  }
}

/**
 * Returns the query that finds a portion of a table's rows, for one organization if each has its own
 * retention.
 */
export const findsOf = (table: string): Part[] =>
  (purges.get(table) ?? []).map(
    (rule) => portionOf(table, rule, 90, rule.daysOf === undefined ? undefined : newId()).find,
  );

/** Marks unread notifications older than a year as read. */
export async function readForThem(pool: Pool, signal: AbortSignal): Promise<number> {
  const isOld = sql.part`n.in_inbox and n.read_at is null and n.created_at < now() - interval '365 days'`;
  const orgs = await acrossOrganizations(pool, (db) =>
    db.all(sql<{ org_id: string }>`select distinct n.org_id from notifications n where ${isOld}`),
  );
  const orgIds = orgs.map(({ org_id: orgId }) => orgId);
  return inPortions(pool, signal, { orgIds, most: portion }, async (db) => {
    const { updated } = await db.one(markRead(sql.part`${of('n')} and ${isOld}`, portion));
    return updated;
  });
}
