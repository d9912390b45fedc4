import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect as connectPlain } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { findFreePort } from '@muster/testing/ports';
import { commandLineOf, endProcess } from './foreign-process.ts';
import { findRedisProgram } from './redis-program.ts';
import { dataFolder } from './repository.ts';
import { startServiceProcess, type ServiceProcess } from './service-process.ts';
import { makeThrowAwayFolder, removeAbandonedFolders } from './throw-away.ts';

export interface RedisOptions {
  /** If true, the data are kept in `.data/redis`. If false, they are in memory and end with this process. */
  readonly durable: boolean;
  /** The folder of durable data. The default is `.data/redis`. */
  readonly dataDir?: string;
  /** The port. The default is a free one. */
  readonly port?: number | undefined;
  /** Reports that a program is being installed. The default prints to stderr. */
  readonly say?: (line: string) => void;
}

export interface Redis extends ServiceProcess {
  readonly url: string;
  readonly port: number;
  readonly logFile: string;
}

const THROW_AWAY_PREFIX = 'muster-redis-';
const START_SECONDS = 30;

const inFolder = (folder: string) => ({
  log: path.join(folder, 'redis.log'),
  /** The file with the process id and the port of the server that works on the folder. */
  running: path.join(folder, 'running'),
});

/**
 * Returns the Redis that REDIS_URL names, once it has answered. Returns undefined if none is named, so that
 * the caller starts one.
 * It checks the address, because a client that retries without a limit would hang silently on a wrong one.
 */
export async function findGivenRedis(url = process.env['REDIS_URL']): Promise<string | undefined> {
  if (url === undefined || url === '') return undefined;
  if (!URL.canParse(url)) throw new Error('REDIS_URL is not an address like redis://127.0.0.1:6379');
  if (await answers(url, 5)) return url;
  throw new Error(`no Redis answers at ${new URL(url).host} (REDIS_URL)`);
}

/** Starts a Redis (or Valkey) as a child of this process. It never evicts keys, because it has queues. */
export async function startRedis(options: RedisOptions): Promise<Redis> {
  const program = await findRedisProgram(options.say ?? ((line) => process.stderr.write(`${line}\n`)));
  if (options.durable) {
    const folder = options.dataDir ?? path.join(dataFolder, 'redis');
    await mkdir(folder, { recursive: true });
    return startIn(folder, program, options);
  }
  await removeAbandonedFolders(THROW_AWAY_PREFIX, stopOrphan);
  const folder = await makeThrowAwayFolder(THROW_AWAY_PREFIX, undefined);
  try {
    return await startIn(folder, program, options);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function startIn(
  folder: string,
  program: string,
  { durable, port: wantedPort }: RedisOptions,
): Promise<Redis> {
  await stopOrphan(folder);
  const { log: logFile, running } = inFolder(folder);
  const tooLong = await stat(logFile).then(
    ({ size }) => size > 10 * 1024 * 1024,
    () => false,
  );
  for (let attempt = 1; ; attempt += 1) {
    const port = wantedPort ?? (await findFreePort());
    await using log = await open(logFile, tooLong ? 'w' : 'a');
    const logStart = (await log.stat()).size;
    const { service } = await startServiceProcess(
      program,
      [
        ...['--port', port.toString(), '--bind', '127.0.0.1', '--dir', folder, '--daemonize', 'no'],
        ...['--maxmemory-policy', 'noeviction', '--save', '', '--appendonly', durable ? 'yes' : 'no'],
      ],
      {
        cwd: '/',
        env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' },
        stdio: ['ignore', log.fd, log.fd],
        stopSignal: 'TERM',
        graceSeconds: 20,
        folderToRemove: durable ? undefined : folder,
      },
    );
    await writeFile(running, `${service.pid} ${port}`);
    const url = `redis://127.0.0.1:${port}`;
    if (await becomesReady(service, url))
      return {
        ...service,
        url,
        port,
        logFile,
        stop: async () => {
          await service.stop();
          await rm(durable ? running : folder, { recursive: true, force: true });
        },
      };
    await service.stop();
    const said = (await readFile(logFile)).subarray(logStart).toString();
    if (wantedPort === undefined && attempt < 5 && said.includes('Address already in use')) continue;
    const tail = said.trim().split('\n').slice(-8).join('\n');
    throw new Error(
      `Redis did not start (data in ${folder}, port ${port}). It said:\n${tail || '(nothing)'}`,
    );
  }
}

async function becomesReady(service: ServiceProcess, url: string): Promise<boolean> {
  const until = Date.now() + START_SECONDS * 1000;
  while (service.isAlive() && Date.now() < until) {
    if (await answers(url, 1)) return service.isAlive();
    await pause(10);
  }
  return false;
}

/** Ends a server that outlived its owner, because two servers that append to one file destroy it. */
async function stopOrphan(folder: string): Promise<void> {
  const { running } = inFolder(folder);
  if (!existsSync(running)) return;
  const [pid = 0, port = 0] = (await readFile(running, 'utf8')).split(' ').map(Number);
  // Redis shows its port in its title, which distinguishes it from a process that reused the id.
  const commandLine = await commandLineOf(pid);
  if (/redis|valkey/.test(commandLine) && commandLine.includes(port.toString())) {
    const ended = await endProcess(pid, [
      ['SIGTERM', 20],
      ['SIGKILL', 5],
    ]);
    if (!ended) throw new Error(`a Redis (process ${pid}) works on ${folder} and cannot be stopped`);
  }
  await rm(running, { force: true });
}

/**
 * Returns true if a Redis answers at the address. A request for a password counts as an answer, but a Redis
 * that still loads its data does not.
 */
async function answers(url: string, seconds: number): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url);
  const address = { host: hostname, port: port === '' ? 6379 : Number(port) };
  return new Promise((resolve) => {
    const socket =
      protocol === 'rediss:' ? connectTls({ ...address, servername: hostname }) : connectPlain(address);
    const answer = (up: boolean) => {
      socket.destroy();
      resolve(up);
    };
    socket.setTimeout(seconds * 1000, () => {
      answer(false);
    });
    socket.once('error', () => {
      answer(false);
    });
    socket.once('data', (data: Buffer) => {
      answer(/^(\+PONG|-NOAUTH|-NOPERM)/.test(data.toString()));
    });
    socket.write('PING\r\n');
  });
}
