import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { findFreePort } from '@muster/testing/ports';
import pg from 'pg';
import { isRunning } from './foreign-process.ts';
import { startPostgres } from './postgres.ts';

const seconds = 1000;

async function ask(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

interface Owner {
  url: string;
  postgresPid: number;
  logFile: string;
  /** Kills the process that started Postgres with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts Postgres in another process, which a spec can kill. */
async function startOwner(options: object): Promise<Owner> {
  const module = JSON.stringify(path.join(import.meta.dirname, 'postgres.ts'));
  const script = `
    const { startPostgres } = await import(${module});
    const { url, pid, logFile } = await startPostgres(${JSON.stringify(options)});
    console.log(JSON.stringify({ url, postgresPid: pid, logFile }));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return {
    ...(JSON.parse(line) as Omit<Owner, 'kill'>),
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function untilGone(isThere: () => boolean): Promise<void> {
  while (isThere()) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('a throw-away cluster', () => {
  it('speaks UTC and UTF-8, and leaves nothing behind', async () => {
    const postgres = await startPostgres({ durable: false });
    const [row] = await ask(
      postgres.url,
      `select current_setting('TimeZone') as zone, lower('ÉÀ') as folded, current_setting('fsync') as fsync`,
    );
    expect(row).toEqual({ zone: 'UTC', folded: 'éà', fsync: 'off' });
    await postgres.stop();
    expect(existsSync(path.dirname(postgres.logFile))).toBe(false);
  });

  it(
    'ends and is removed when its owner is killed',
    async () => {
      const owner = await startOwner({ durable: false });
      await owner.kill();
      await untilGone(() => isRunning(owner.postgresPid));
      await untilGone(() => existsSync(path.dirname(owner.logFile)));
    },
    60 * seconds,
  );

  it('takes settings over its own', async () => {
    const postgres = await startPostgres({ durable: false, settings: { fsync: 'on' } });
    expect(await ask(postgres.url, `select current_setting('fsync') as fsync`)).toEqual([{ fsync: 'on' }]);
    await postgres.stop();
  });

  it('says what the server said when it does not start', async () => {
    const start = startPostgres({ durable: false, settings: { no_such_setting: 'on' } });
    await expect(start).rejects.toThrow(/did not start[^]*no_such_setting/);
  });
});

describe('a durable cluster', () => {
  let folder: string;
  beforeEach(async () => {
    folder = path.join(await mkdtemp(path.join(tmpdir(), 'muster-spec-')), 'postgres');
    // Makes the folder readable, as a clone usually is. mkdtemp creates a private one.
    await chmod(path.dirname(folder), 0o755);
  });
  afterEach(async () => {
    const outside = await readlink(folder).catch(() => undefined);
    if (outside !== undefined) await rm(outside, { recursive: true });
    await rm(path.dirname(folder), { recursive: true, force: true });
  });

  it(
    'keeps its data over a stop, a kill of its owner, and a kill of everything',
    async () => {
      const first = await startPostgres({ durable: true, dataDir: folder });
      await ask(first.url, 'create table kept (at int); insert into kept values (1)');
      await first.stop();

      const owner = await startOwner({ durable: true, dataDir: folder });
      await ask(owner.url, 'insert into kept values (2)');
      await owner.kill();

      // This start does not wait for the end of the old server. The killed owner's leash may be stopping that
      // server at this moment.
      const second = await startOwner({ durable: true, dataDir: folder });
      await ask(second.url, 'insert into kept values (3)');
      process.kill(second.postgresPid, 'SIGKILL');
      await second.kill();

      const last = await startPostgres({ durable: true, dataDir: folder });
      expect(await ask(last.url, 'select at from kept order by at')).toEqual([
        { at: 1 },
        { at: 2 },
        { at: 3 },
      ]);
      await last.stop();
    },
    60 * seconds,
  );

  it(
    'asks for a password, and is not misled by a note that names a process of something else',
    async () => {
      const first = await startPostgres({ durable: true, dataDir: folder });
      const withoutPassword = new URL(first.url);
      withoutPassword.password = 'guess';
      await expect(ask(withoutPassword.href, 'select 1')).rejects.toThrow(/password authentication failed/);
      await first.stop();

      const note = path.join(folder, 'cluster', 'postmaster.pid');
      await writeFile(note, `${process.pid}\n${folder}\n`);
      const second = await startPostgres({ durable: true, dataDir: folder });
      expect(Number((await readFile(note, 'utf8')).split('\n')[0])).toBe(second.pid);
      await second.stop();
    },
    60 * seconds,
  );

  it(
    'keeps its data where the account of PostgreSQL can go, when the clone is private to root',
    async () => {
      await chmod(path.dirname(folder), 0o700);
      const first = await startPostgres({ durable: true, dataDir: folder });
      await ask(first.url, 'create table kept (at int)');
      await first.stop();
      const second = await startPostgres({ durable: true, dataDir: folder });
      expect(await ask(second.url, 'select at from kept')).toEqual([]);
      await second.stop();

      const outside = await readlink(folder).catch(() => undefined);
      expect(outside !== undefined).toBe(process.getuid?.() === 0);
      // Without the link, Postgres starts with an empty cluster at the same path.
      await rm(folder, { recursive: true });
      const third = await startPostgres({ durable: true, dataDir: folder });
      await expect(ask(third.url, 'select at from kept')).rejects.toThrow(/does not exist/);
      await third.stop();
      expect(await readlink(folder).catch(() => undefined)).toBe(outside);
    },
    60 * seconds,
  );

  it('waits for nobody at a port that is taken', async () => {
    const port = await findFreePort();
    const other = await startPostgres({ durable: false, port });
    await expect(startPostgres({ durable: true, dataDir: folder, port })).rejects.toThrow(/could not bind/);
    await other.stop();
  });
});
