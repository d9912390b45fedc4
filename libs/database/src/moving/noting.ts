/**
 * While an organization leaves a server, triggers on its rows note what changes, and refuse what comes too late
 * (functions/nodes.sql). Rows of others cost them a comparison.
 */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { literal, type MovedTable, tableOf, word } from './tables.ts';

const triesAgainMillis = 200;
const mostTries = 150;
/** What waits behind a statement that waits for a table is not to notice. */
const lockTimeout = '300ms';
const gaveWay = '55P03';

const names = (orgId: string): readonly [string, string, string] => [
  `leaves ${orgId} w`,
  `leaves ${orgId} d`,
  `leaves ${orgId} s`,
];

/** Each table in a transaction of its own: none is held while the next is waited for. */
async function givingWay(client: pg.ClientBase, statements: readonly string[]): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    await client.query('begin');
    try {
      await client.query(`set local lock_timeout = '${lockTimeout}'`);
      for (const statement of statements) await client.query(statement);
      await client.query('commit');
      return;
    } catch (error) {
      await client.query('rollback');
      if (!(error instanceof pg.DatabaseError && error.code === gaveWay) || tries === mostTries) throw error;
      await pause(triesAgainMillis);
    }
  }
}

export async function beginNoting(
  client: pg.ClientBase,
  orgId: string,
  tables: readonly MovedTable[],
): Promise<void> {
  const [written, gone, spared] = names(orgId);
  for (const table of tables) {
    const row = (of: string): string => `${of}.${word(table.orgColumn)} = ${literal(orgId)}`;
    const given = [orgId, table.name, ...table.key].map(literal).join(', ');
    const does = `for each row when (%) execute function app.note_changed_row(${given})`;
    await givingWay(client, [
      `create trigger ${word(written)} after insert or update on ${tableOf(table)} ${does.replace('%', row('new'))}`,
      `create trigger ${word(gone)} after delete on ${tableOf(table)} ${does.replace('%', row('old'))}`,
      `create trigger ${word(spared)} before update or delete on ${tableOf(table)} for each row when (${row('old')})
         execute function app.spare_closed_row(${literal(orgId)})`,
    ]);
  }
}

/** Also where some are not there, or none. */
export async function endNoting(client: pg.ClientBase, orgId: string): Promise<void> {
  const { rows } = await client.query<{ trigger: string; place: string }>(
    `select t.tgname as trigger, t.tgrelid::regclass::text as place from pg_trigger t
     where t.tgname = any ($1) and t.tgparentid = 0`,
    [names(orgId)],
  );
  for (const { trigger, place } of rows)
    await givingWay(client, [`drop trigger ${word(trigger)} on ${place}`]);
  await client.query('delete from app.changed_rows where org_id = $1', [orgId]);
}
