import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, open, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findFreePort } from '@muster/testing/ports';
import { accountForPostgres, type DemoAccount } from './account.ts';
import { commandLineOf, endProcess } from './foreign-process.ts';
import { findDurableFolder, findPostgresPrograms, type PostgresPrograms } from './postgres-places.ts';
import { dataFolder } from './repository.ts';
import { startServiceProcess, type ServiceProcess } from './service-process.ts';
import { makeThrowAwayFolder, removeAbandonedFolders } from './throw-away.ts';

const run = promisify(execFile);

export interface PostgresOptions {
  /**
   * If true, the data are kept and every commit is flushed to disk. If false, the cluster is new, ends with
   * this process, and does not use fsync.
   */
  readonly durable: boolean;
  /** The folder of a durable cluster. The default is `.data/postgres`. */
  readonly dataDir?: string;
  /** The port. The default is a free one. */
  readonly port?: number | undefined;
  /** Server settings that override the defaults, for example `{ fsync: 'on' }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface Postgres extends ServiceProcess {
  /** The address with the superuser's login and the database `postgres`. */
  readonly url: string;
  readonly port: number;
  readonly logFile: string;
}

const THROW_AWAY_PREFIX = 'muster-postgres-';
const START_SECONDS = 60;

/** Returns the paths of the cluster, the password file and the log in a server's folder. */
const inFolder = (folder: string) => ({
  cluster: path.join(folder, 'cluster'),
  password: path.join(folder, 'password'),
  log: path.join(folder, 'postgres.log'),
});

const ALWAYS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
  max_connections: '200',
};
const WITHOUT_FSYNC = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/**
 * Starts a PostgreSQL as a child of this process. `exited` reports its end, and it ends with this process
 * even if that is killed. Recovers from the leftovers of a killed run in the folder.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  if (options.durable) {
    const wanted = options.dataDir ?? path.join(dataFolder, 'postgres');
    const account = await accountForPostgres(inFolder(wanted).cluster);
    return startIn(await findDurableFolder(wanted, account), account, options);
  }
  const account = await accountForPostgres();
  await removeAbandonedFolders(THROW_AWAY_PREFIX, stopOrphan);
  const folder = await makeThrowAwayFolder(THROW_AWAY_PREFIX, account);
  try {
    return await startIn(folder, account, options);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function startIn(
  folder: string,
  account: DemoAccount | undefined,
  { durable, port: wantedPort, settings }: PostgresOptions,
): Promise<Postgres> {
  const programs = await findPostgresPrograms(account);
  await stopOrphan(folder);
  if (!existsSync(inFolder(folder).cluster)) await makeCluster(programs, folder, account, durable);
  await shortenLog(inFolder(folder).log);

  const until = Date.now() + START_SECONDS * 1000;
  for (;;) {
    const port = wantedPort ?? (await findFreePort());
    const args = Object.entries({ ...ALWAYS, ...(durable ? {} : WITHOUT_FSYNC), ...settings }).map(
      ([name, value]) => `--${name}=${value}`,
    );
    await using log = await open(inFolder(folder).log, 'a');
    const logStart = (await log.stat()).size;
    const { service } = await startServiceProcess(
      programs.postgres,
      ['-D', inFolder(folder).cluster, '-p', port.toString(), ...args],
      {
        cwd: '/',
        env: SERVER_ENVIRONMENT,
        stdio: ['ignore', log.fd, log.fd],
        ...account,
        // SIGINT stops fast: Postgres rolls back open transactions and writes a checkpoint. SIGQUIT stops
        // immediately and is for data that are not needed.
        stopSignal: durable ? 'INT' : 'QUIT',
        graceSeconds: 30,
        folderToRemove: durable ? undefined : folder,
      },
    );
    if (await becomesReady(service, folder, until)) return await running(service, folder, port, durable);

    await service.stop();
    const said = (await readFile(inFolder(folder).log)).subarray(logStart).toString();
    // Another process may have taken the free port, and processes of a killed server may need a moment to
    // end.
    const mayPass =
      (wantedPort === undefined && said.includes('could not bind')) ||
      said.includes('pre-existing shared memory');
    if (!mayPass || Date.now() > until) throw new Error(explain(said, folder, port));
    await pause(200);
  }
}

async function running(
  service: ServiceProcess,
  folder: string,
  port: number,
  durable: boolean,
): Promise<Postgres> {
  const password = await readFile(inFolder(folder).password, 'utf8').catch(() => '');
  const user = password === '' ? 'postgres' : `postgres:${password}`;
  return {
    ...service,
    url: `postgres://${user}@127.0.0.1:${port}/postgres`,
    port,
    logFile: inFolder(folder).log,
    stop: async () => {
      await service.stop();
      if (!durable) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Waits for the status in the file that pg_ctl also reads, because the port opens before recovery ends. */
async function becomesReady(service: ServiceProcess, folder: string, until: number): Promise<boolean> {
  const pidFile = path.join(inFolder(folder).cluster, 'postmaster.pid');
  while (service.isAlive() && Date.now() < until) {
    const lines = await readFile(pidFile, 'utf8').then(
      (text) => text.split('\n'),
      () => [],
    );
    if (Number(lines[0]) === service.pid && lines[7]?.trim() === 'ready') return true;
    await pause(10);
  }
  return false;
}

/**
 * Creates the cluster next to its final path and renames it when it is complete. An interrupted start
 * therefore leaves nothing that looks like data.
 */
async function makeCluster(
  programs: PostgresPrograms,
  folder: string,
  account: DemoAccount | undefined,
  durable: boolean,
): Promise<void> {
  const { cluster, password } = inFolder(folder);
  const unfinished = `${cluster}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  if (account !== undefined) await chown(unfinished, account.uid, account.gid);
  const access = ['--auth=trust'];
  if (durable) {
    // Durable data get a password, because other users of this machine can reach the port too.
    await writeFile(password, randomBytes(18).toString('base64url'), { mode: 0o600 });
    if (account !== undefined) await chown(password, account.uid, account.gid);
    access.splice(0, 1, '--auth=scram-sha-256', `--pwfile=${password}`);
  }
  // The builtin provider sorts and folds the same on every system. C.UTF-8 of the C library exists on Linux
  // only.
  const locale = process.platform === 'linux' ? 'C.UTF-8' : 'C';
  await run(
    programs.initdb,
    [
      ...['-D', unfinished, '-U', 'postgres', '-E', 'UTF8', ...access],
      ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', `--locale=${locale}`],
      ...(durable ? [] : ['--no-sync', '--no-instructions']),
    ],
    { cwd: '/', env: SERVER_ENVIRONMENT, ...account },
  ).catch((error: unknown) => {
    const said = (error as { stderr?: string }).stderr ?? '';
    throw new Error(`PostgreSQL could not make its data in ${folder}:\n${said.trim()}`, { cause: error });
  });
  await rename(unfinished, cluster);
}

/**
 * Ends a server that still works on the folder because its owner was killed. Two servers on one cluster
 * destroy it.
 */
async function stopOrphan(folder: string): Promise<void> {
  const { cluster } = inFolder(folder);
  const pidFile = path.join(cluster, 'postmaster.pid');
  const pid = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
  if (pid === 0) return;
  if (!(await commandLineOf(pid)).includes(cluster)) {
    // The server has ended. Its `postmaster.pid` must not mislead PostgreSQL if another process has reused
    // the process ID, or if a zombie still has it. Both are common in containers. PostgreSQL finds remaining
    // backends by their shared memory.
    await rm(pidFile);
    return;
  }
  const ended = await endProcess(pid, [
    ['SIGINT', 20],
    ['SIGQUIT', 5],
    ['SIGKILL', 5],
  ]);
  if (!ended) throw new Error(`a PostgreSQL (process ${pid}) works on ${cluster} and cannot be stopped`);
}

/** Limits the size of a log that is rarely read. */
async function shortenLog(log: string): Promise<void> {
  const size = await stat(log).then(
    (stats) => stats.size,
    () => 0,
  );
  if (size > 10 * 1024 * 1024) await truncate(log);
}

function explain(said: string, folder: string, port: number): string {
  const tail = said.trim().split('\n').slice(-12).join('\n');
  return `PostgreSQL did not start (data in ${folder}, port ${port}). It said:\n${tail || '(nothing)'}`;
}

/**
 * The environment has no variables of the caller. PGPORT, PGDATA or a locale that the machine lacks would
 * change the server.
 */
const SERVER_ENVIRONMENT = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' };
