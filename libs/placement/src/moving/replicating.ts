/**
 * The rows of one organization, copied and kept up to date on another server by PostgreSQL's logical replication: a publication
 * with a row filter for the organization, a slot, and a subscription at the other server.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { CannotMove } from './cannot-move.ts';
import { literal, type MovedTable, opensOrganization, tableOf, word } from './tables.ts';

export interface Replication {
  readonly from: pg.Client;
  readonly to: pg.Client;
  readonly orgId: string;
}

const looksAgainMillis = 50;
/** While the organization is closed. */
const looksAgainSoonMillis = 2;

/** Publication, slot and subscription have the same name. */
const nameOf = (orgId: string): string => `muster_move_${orgId.replaceAll('-', '_')}`;

/**
 * Begins to copy what is there, and to follow what is written from now on.
 * @param fromUrl how the new server reaches the old one
 */
export async function beginReplication(
  { from, to, orgId }: Replication,
  tables: readonly MovedTable[],
  fromUrl: string,
): Promise<void> {
  const name = nameOf(orgId);
  const filtered = tables
    .filter((table) => table.name !== opensOrganization)
    .map((table) => `${tableOf(table)} where (${word(table.orgColumn)} = ${literal(orgId)})`);
  await from.query(
    `create publication ${word(name)} for table ${filtered.join(', ')}
     with (publish = 'insert, update, delete', publish_via_partition_root = true)`,
  );
  // The subscription would make the slot in a transaction of its own, and wait for that one where both are on one server.
  await from.query(`select pg_create_logical_replication_slot($1, 'pgoutput')`, [name]);
  await to.query(
    `create subscription ${word(name)} connection ${literal(fromUrl)} publication ${word(name)}
     with (create_slot = false, slot_name = ${literal(name)}, synchronous_commit = 'on')`,
  );
}

/** Resolves when everything that was there at the beginning is at the new server. Throws CannotMove where a row is refused there. */
export async function waitUntilCopied({ to, orgId }: Replication): Promise<void> {
  for (;;) {
    const { rows } = await to.query<{ tables: number; errors: number }>(
      `select (select count(*) from pg_subscription_rel r where r.srsubid = s.oid and r.srsubstate <> 'r')::int as tables,
         (e.apply_error_count + e.sync_error_count)::int as errors
       from pg_subscription s join pg_stat_subscription_stats e on e.subid = s.oid where ${isOurs}`,
      [nameOf(orgId)],
    );
    const [left] = rows;
    if (left === undefined) throw new CannotMove('the subscription at the new server is gone');
    if (left.errors > 0)
      throw new CannotMove('the new server cannot copy from the old one: the log of the new one says why');
    if (left.tables === 0) return;
    await pause(looksAgainMillis);
  }
}

/**
 * Answers true when everything that was committed at the old server before this call is on the disk of the new one; false where
 * that takes longer than `withinMillis`.
 */
export async function hasFollowed({ from, orgId }: Replication, withinMillis: number): Promise<boolean> {
  const until = performance.now() + withinMillis;
  const { rows } = await from.query<{ position: string }>('select pg_current_wal_insert_lsn() as position');
  for (;;) {
    const { rowCount } = await from.query(
      'select from pg_replication_slots where slot_name = $1 and confirmed_flush_lsn >= $2::pg_lsn',
      [nameOf(orgId), rows[0]?.position],
    );
    if (rowCount === 1) return true;
    if (performance.now() > until) return false;
    await pause(looksAgainSoonMillis);
  }
}

/** Ends it, also where only a part of it was begun. The rows at the new server stay. */
export async function endReplication({ from, to, orgId }: Replication): Promise<void> {
  const name = nameOf(orgId);
  const { rowCount } = await to.query(`select from pg_subscription s where ${isOurs}`, [name]);
  // The slot at the old server goes with it.
  if (rowCount === 1) await to.query(`drop subscription ${word(name)}`);
  await from.query(
    'select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1',
    [name],
  );
  await from.query(`drop publication if exists ${word(name)}`);
}

/** The catalogue of subscriptions is one for all databases of a server. */
const isOurs = `s.subname = $1 and s.subdbid = (select d.oid from pg_database d where d.datname = current_database())`;
