/**
 * Makes backups of a PostgreSQL server as managed services make them: a copy of its files while it runs, plus
 * the archive of its WAL from then on. Operators use pg_basebackup or pgBackRest. No npm package has such a
 * program, so this module does the same steps (PostgreSQL's documentation, "Making a base backup using the
 * low level API").
 */
import { chown, copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { accountForPostgres } from '@muster/tools';

/** Settings of a server that archives its WAL segments into a folder. */
export const archivingTo = (archive: string): Record<string, string> => ({
  ...{ wal_level: 'replica', archive_mode: 'on', full_page_writes: 'on' },
  archive_command: `test ! -f '${archive}/%f' && cp '%p' '${archive}/%f'`,
});

/** Settings of a server that replays the archive up to a named restore point and then accepts writes. */
export const restoreSettings = (archive: string, pointName: string): Record<string, string> => ({
  restore_command: `cp '${archive}/%f' '%p'`,
  recovery_target_name: pointName,
  recovery_target_action: 'promote',
});

/**
 * Settings of a standby that streams from the primary server at `url` and answers reads. The primary keeps
 * the WAL that the standby still needs (`followed`).
 */
export const following = (url: string): Record<string, string> => ({
  primary_conninfo: url,
  hot_standby: 'on',
});

/** Settings of the primary server that a standby follows. */
export const followed = { wal_level: 'replica', wal_keep_size: '512MB', full_page_writes: 'on' };

/**
 * Files that a base backup leaves out. The restored server creates them itself or reads them from the
 * archive.
 */
const leftOut =
  /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/.|^postmaster\./;

/**
 * Copies a server's files while it runs. A server that starts on the copy recovers the rest from the archive,
 * or follows the original as a standby.
 */
export async function takeBaseBackup(
  url: string,
  folder: string,
  as: 'recovery' | 'standby' = 'recovery',
): Promise<void> {
  const session = new pg.Client({ connectionString: url });
  await session.connect();
  try {
    await session.query(`select pg_backup_start('base', true)`);
    const { rows } = await session.query<{ data_directory: string }>('show data_directory');
    await copyFiles(rows[0]?.data_directory ?? '', folder);
    const { rows: labels } = await session.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop()',
    );
    await writeFile(path.join(folder, 'backup_label'), labels[0]?.labelfile ?? '');
    await writeFile(path.join(folder, `${as}.signal`), '');
  } finally {
    await session.end();
  }
  await chownToPostgres(folder);
}

async function copyFiles(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const name = path.relative(from, path.join(entry.parentPath, entry.name));
    if (leftOut.test(name)) continue;
    if (entry.isDirectory()) await mkdir(path.join(to, name), { mode: 0o700, recursive: true });
    else
      await copyFile(path.join(from, name), path.join(to, name)).catch((error: unknown) => {
        // The server keeps running during the copy and may remove files. Recovery removes these files from
        // the copy, too.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      });
  }
}

async function chownToPostgres(folder: string): Promise<void> {
  const account = await accountForPostgres();
  if (account === undefined) return;
  const names = await readdir(folder, { recursive: true });
  for (const name of ['', ...names]) await chown(path.join(folder, name), account.uid, account.gid);
}

/** Creates a restore point with the given name, and returns when all WAL up to this point is archived. */
export async function nameThisMoment(url: string, name: string): Promise<void> {
  const session = new pg.Client({ connectionString: url });
  await session.connect();
  try {
    await session.query('select pg_create_restore_point($1)', [name]);
    const { rows } = await session.query<{ file: string }>('select pg_walfile_name(pg_switch_wal()) as file');
    const isArchived = async (): Promise<boolean> => {
      const { rows: found } = await session.query(
        'select from pg_stat_archiver where last_archived_wal >= $1 and last_archived_wal not like $2',
        [rows[0]?.file, '%.backup'],
      );
      return found.length > 0;
    };
    while (!(await isArchived())) await pause(20);
  } finally {
    await session.end();
  }
}
