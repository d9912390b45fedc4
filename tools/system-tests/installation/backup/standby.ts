/** Helpers for specs that use a standby. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Pool } from '@muster/driver';

async function until(pool: Pool, condition: string, ...parameters: unknown[]): Promise<void> {
  const isSo = async (): Promise<boolean> =>
    (await pool.query<{ yes: boolean | null }>(`select ${condition} as yes`, parameters)).rows[0]?.yes ===
    true;
  while (!(await isSo())) await pause(10);
}

/** Waits until the standby has replayed everything that the primary server has written so far. */
export async function untilCaughtUp(primary: Pool, standby: Pool): Promise<void> {
  const { rows } = await primary.query<{ at: string }>('select pg_current_wal_insert_lsn() as at');
  await until(standby, 'pg_last_wal_replay_lsn() >= $1::pg_lsn', rows[0]?.at);
}

/** Promotes the standby to a primary server. */
export async function promote(standby: Pool): Promise<void> {
  await standby.query('select pg_promote(false)');
  await until(standby, 'not pg_is_in_recovery()');
}
