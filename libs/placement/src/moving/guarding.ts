/**
 * Guards the rows of an organization that leaves a server, with a trigger on each table. Once the
 * organization is closed, the trigger rejects writes to its rows (functions/nodes.sql). Rows of other
 * organizations only cost a comparison.
 */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import {
  quoteLiteral,
  type MovedTable,
  qualifiedTableName,
  quoteIdentifier,
  runInTransaction,
} from './tables.ts';

const lockRetryDelayMillis = 200;
const maxLockAttempts = 150;
/**
 * The maximum time that a statement waits for a table lock. All later statements on that table queue behind
 * it for this long.
 */
const lockTimeout = '300ms';
const lockNotAvailableSqlState = '55P03';

const guardTriggerPrefix = (orgId: string): string => `leaves ${orgId}`;

/**
 * Runs the statements in a transaction of their own and retries after a lock timeout, so that no table stays
 * locked during the wait for the next one.
 */
async function runWithLockRetries(client: pg.ClientBase, statements: readonly string[]): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await runInTransaction(client, async () => {
        await client.query(`set local lock_timeout = '${lockTimeout}'`);
        for (const statement of statements) await client.query(statement);
      });
      return;
    } catch (error) {
      if (
        !(error instanceof pg.DatabaseError && error.code === lockNotAvailableSqlState) ||
        tries === maxLockAttempts
      )
        throw error;
      await pause(lockRetryDelayMillis);
    }
  }
}

export async function createGuardTriggers(
  client: pg.ClientBase,
  orgId: string,
  tables: readonly MovedTable[],
): Promise<void> {
  for (const table of tables) {
    const isOf = (row: string): string =>
      `${row}.${quoteIdentifier(table.orgColumn)} = ${quoteLiteral(orgId)}`;
    const guard = (suffix: string, when: string, row: string): string =>
      `create trigger ${quoteIdentifier(guardTriggerPrefix(orgId) + suffix)} before ${when} on ${qualifiedTableName(table)} for each row when (${isOf(row)})
         execute function app.guard_leaving_row(${quoteLiteral(orgId)})`;
    await runWithLockRetries(client, [guard(' i', 'insert', 'new'), guard(' u', 'update or delete', 'old')]);
  }
}

/** Drops the guard triggers of an organization. It does not matter if some or all of them are missing. */
export async function dropGuardTriggers(client: pg.ClientBase, orgId: string): Promise<void> {
  const { rows } = await client.query<{ trigger: string; place: string }>(
    `select t.tgname as trigger, t.tgrelid::regclass::text as place from pg_trigger t
     where starts_with(t.tgname, $1) and t.tgparentid = 0`,
    [guardTriggerPrefix(orgId)],
  );
  for (const { trigger, place } of rows)
    await runWithLockRetries(client, [`drop trigger ${quoteIdentifier(trigger)} on ${place}`]);
}
