/**
 * Copies the rows of one organization to another server and keeps them up to date, by PostgreSQL's logical
 * replication. It uses a publication with a row filter for the organization, a replication slot, and a
 * subscription on the other server.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { CannotMoveError } from './cannot-move.ts';
import {
  quoteLiteral,
  type MovedTable,
  rightsEpochsTable,
  qualifiedTableName,
  quoteIdentifier,
} from './tables.ts';

export interface Replication {
  readonly from: pg.Client;
  readonly to: pg.Client;
  readonly orgId: string;
}

const copyPollIntervalMillis = 50;
/** The polling interval while the organization is closed, in milliseconds. */
const closedPollIntervalMillis = 2;

/** Returns the name that publication, slot and subscription share. */
const replicationName = (orgId: string): string => `muster_move_${orgId.replaceAll('-', '_')}`;

/**
 * Starts to copy the existing rows and to follow new writes. @param fromUrl the address of the old server as
 * the new server reaches it
 */
export async function beginReplication(
  { from, to, orgId }: Replication,
  tables: readonly MovedTable[],
  fromUrl: string,
): Promise<void> {
  const name = replicationName(orgId);
  const filtered = tables
    .filter((table) => table.name !== rightsEpochsTable)
    .map(
      (table) =>
        `${qualifiedTableName(table)} where (${quoteIdentifier(table.orgColumn)} = ${quoteLiteral(orgId)})`,
    );
  await from.query(
    `create publication ${quoteIdentifier(name)} for table ${filtered.join(', ')}
     with (publish = 'insert, update, delete', publish_via_partition_root = true)`,
  );
  // Creates the slot first. The subscription would create it in a transaction of its own, and would wait for
  // itself if both databases are on one server.
  await from.query(`select pg_create_logical_replication_slot($1, 'pgoutput')`, [name]);
  await to.query(
    `create subscription ${quoteIdentifier(name)} connection ${quoteLiteral(fromUrl)} publication ${quoteIdentifier(name)}
     with (create_slot = false, slot_name = ${quoteLiteral(name)}, synchronous_commit = 'on')`,
  );
}

/**
 * Resolves when all rows that existed at the start are on the new server. Throws CannotMoveError if a row is
 * refused there.
 */
export async function waitUntilCopied({ to, orgId }: Replication): Promise<void> {
  for (;;) {
    const { rows } = await to.query<{ tables: number; errors: number }>(
      `select (select count(*) from pg_subscription_rel r where r.srsubid = s.oid and r.srsubstate <> 'r')::int as tables,
         (e.apply_error_count + e.sync_error_count)::int as errors
       from pg_subscription s join pg_stat_subscription_stats e on e.subid = s.oid where ${ownSubscriptionCondition}`,
      [replicationName(orgId)],
    );
    const [left] = rows;
    if (left === undefined) throw new CannotMoveError('the subscription on the new server no longer exists');
    if (left.errors > 0)
      throw new CannotMoveError('the new server cannot copy from the old one; see the log of the new server');
    if (left.tables === 0) return;
    await pause(copyPollIntervalMillis);
  }
}

/**
 * Returns true when everything that was committed on the old server before this call is on the new server's
 * disk. Returns false if that takes longer than `timeoutMillis`.
 */
export async function hasCaughtUp({ from, orgId }: Replication, timeoutMillis: number): Promise<boolean> {
  const until = performance.now() + timeoutMillis;
  const { rows } = await from.query<{ position: string }>('select pg_current_wal_insert_lsn() as position');
  for (;;) {
    const { rowCount } = await from.query(
      'select from pg_replication_slots where slot_name = $1 and confirmed_flush_lsn >= $2::pg_lsn',
      [replicationName(orgId), rows[0]?.position],
    );
    if (rowCount === 1) return true;
    if (performance.now() > until) return false;
    await pause(closedPollIntervalMillis);
  }
}

/** Ends the replication, even one that was only partly set up. The rows on the new server stay. */
export async function endReplication({ from, to, orgId }: Replication): Promise<void> {
  const name = replicationName(orgId);
  const { rowCount } = await to.query(`select from pg_subscription s where ${ownSubscriptionCondition}`, [
    name,
  ]);
  // Dropping the subscription also drops the slot on the old server.
  if (rowCount === 1) await to.query(`drop subscription ${quoteIdentifier(name)}`);
  await from.query(
    'select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1',
    [name],
  );
  await from.query(`drop publication if exists ${quoteIdentifier(name)}`);
}

/**
 * Restricts the condition to this database, since all databases of a server share one catalog of
 * subscriptions.
 */
const ownSubscriptionCondition = `s.subname = $1 and s.subdbid = (select d.oid from pg_database d where d.datname = current_database())`;
