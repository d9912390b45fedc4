import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The user and group ids of an account of the machine. */
export interface DemoAccount {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Returns the account for PostgreSQL, which refuses to run as root. For root it is the owner of the existing
 * data, else `postgres` or `nobody`.
 * Returns undefined if this process is not root, so that PostgreSQL runs as the same account.
 */
export async function accountForPostgres(existingData?: string): Promise<DemoAccount | undefined> {
  const us = process.getuid?.();
  const owner = existingData === undefined ? undefined : await ownerOf(existingData);
  if (us !== 0) {
    if (owner === undefined || owner.uid === us) return undefined;
    throw new Error(
      `the data of PostgreSQL in ${existingData} are another account's, as which Muster ran before: run it as that one`,
    );
  }
  if (owner !== undefined && owner.uid !== 0) return owner;
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, name]))).catch(() => undefined);
    const [uid, gid] = ids?.map(({ stdout }) => Number(stdout)) ?? [];
    if (uid !== undefined && gid !== undefined) return { uid, gid };
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is no account "postgres" or "nobody" to run it as',
  );
}

async function ownerOf(file: string): Promise<DemoAccount | undefined> {
  const stats = await stat(file).catch(() => undefined);
  // A file within another account's private folder cannot be inspected, so the owner of the folder is taken
  // as the owner of the file.
  if (stats !== undefined) return { uid: stats.uid, gid: stats.gid };
  const parent = await stat(path.dirname(file)).catch(() => undefined);
  return parent === undefined ? undefined : { uid: parent.uid, gid: parent.gid };
}

/**
 * Returns true if the account can write in the folder. It tries, because the rights of every parent folder
 * count.
 */
export async function canWorkIn(folder: string, account: DemoAccount | undefined): Promise<boolean> {
  return succeedsAs(account, '/bin/sh', ['-c', 'test -w "$1" && test -x "$1"', 'sh', folder]);
}

/** Returns true if the account can reach and run a program. */
export async function succeedsAs(
  account: DemoAccount | undefined,
  program: string,
  args: readonly string[],
): Promise<boolean> {
  return run(program, args, { cwd: '/', ...account }).then(
    () => true,
    () => false,
  );
}
