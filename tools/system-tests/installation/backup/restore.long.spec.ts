/**
 * Tests the guide's promises about backups (docs/guides/running-it.md). Postgres holds all data. A server
 * that is restored from the backup, with an empty Redis, continues where the lost server stopped.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, connect } from '@muster/client';
import { createPool } from '@muster/driver';
import { migrate } from '@muster/migrations';
import { addMember, createOrganization, createToken } from '@muster/organizations';
import {
  accountForPostgres,
  makeThrowAwayFolder,
  type Postgres,
  type Redis,
  repositoryRoot,
  startPostgres,
  startRedis,
  startThrowAwayApi,
  startThrowAwayApp,
  type ThrowAwayApi,
  type ThrowAwayApp,
} from '@muster/tools';
import { archivingTo, nameThisMoment, restoreSettings, takeBaseBackup } from './base-backup.ts';

const minutes = 60_000;

/** The services that run on one database. The worker runs only if there is a Redis. */
interface Site {
  readonly api: ThrowAwayApi;
  readonly licenses: ThrowAwayApp;
  stop(): Promise<void>;
}

async function openSite(databaseUrl: string): Promise<Site> {
  const environment = { DATABASE_URL: databaseUrl };
  const licenses = await startThrowAwayApp('license-service', { log: 'warn', environment });
  const api = await startThrowAwayApi({ databaseUrl, log: 'warn' });
  return {
    api,
    licenses,
    stop: async () => {
      await Promise.all([api.stop(), licenses.stop()]);
    },
  };
}

const activate = async ({ licenses }: Site, licenseKey: string, machineId: string): Promise<number> => {
  const answer = await fetch(`${licenses.url}/api/activate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ licenseKey, machineId }),
  });
  return answer.status;
};

async function sellLicense(databaseUrl: string): Promise<string> {
  const cli = path.join(repositoryRoot, 'apps/license-service/src/cli.ts');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [cli, 'issue', '--plan', 'demo', '--for', '365d', '--json'],
    { env: { ...process.env, DATABASE_URL: databaseUrl } },
  );
  const { licenses } = JSON.parse(stdout) as { licenses: { key: string }[] };
  return licenses[0]?.key ?? '';
}

/**
 * Creates the members and returns their tokens. Ana owns Acme, Ben and Chloé work there, and Eve owns another
 * organization.
 */
async function addPeople(databaseUrl: string): Promise<Record<'ana' | 'ben' | 'chloe' | 'eve', string>> {
  const pool = createPool({ url: databaseUrl, role: null, max: 1 });
  try {
    const token = async (org: string, name: string): Promise<string> => {
      const member = `${name}@${org}.example`;
      return (await createToken(pool, { org, member, name, scopes: ['admin'] })).token;
    };
    for (const [slug, owner] of [
      ['acme', 'ana'],
      ['other', 'eve'],
    ] as const)
      await createOrganization(pool, {
        ...{ name: slug, slug, plan: 'team', seats: 25 },
        owner: { email: `${owner}@${slug}.example`, name: owner },
      });
    for (const name of ['ben', 'chloe'])
      await addMember(pool, { org: 'acme', email: `${name}@acme.example`, name, role: 'admin' });
    return {
      ...{ ana: await token('acme', 'ana'), ben: await token('acme', 'ben') },
      ...{ chloe: await token('acme', 'chloe'), eve: await token('other', 'eve') },
    };
  } finally {
    await pool.end();
  }
}

/** Reads everything in the organization that this caller may read. */
async function snapshotState(client: Client, executionId: string): Promise<unknown> {
  const [stories, activity, audit, execution] = await Promise.all([
    Array.fromAsync(client.stories.list.all({ projectId: 'WEB' })),
    Array.fromAsync(client.activity.list.all({})),
    Array.fromAsync(client.audit.list.all({})),
    client.deliveryExecutions.get({ executionId }),
  ]);
  return { stories, activity, audit, execution };
}

const work = { targetType: 'story', targetId: 'WEB-1', ttlSeconds: 3600 } as const;
const key = { idempotencyKey: 'three-of-them' };
const third = { projectId: 'WEB', title: 'Three' };

let folder: string;
let archive: string;
let before: Postgres | undefined;
let restored: Postgres | undefined;
let site: Site | undefined;
let tokens: Awaited<ReturnType<typeof addPeople>>;
let seen: unknown;
let lease: { executionId: string; leaseToken: string };
let licenseKey: string;

const as = (who: keyof typeof tokens): Client =>
  connect({ baseUrl: site?.api.url ?? '', token: tokens[who] });
const running = (): Site => {
  if (site === undefined) throw new Error('nothing runs');
  return site;
};

beforeAll(async () => {
  // If this run is killed, the next start removes both folders and the leftovers of the servers that used
  // them.
  const account = await accountForPostgres();
  folder = await makeThrowAwayFolder('muster-postgres-', account);
  archive = await makeThrowAwayFolder('muster-postgres-', account);
  before = await startPostgres({ durable: false, settings: archivingTo(archive) });
  await migrate(before.url);
  tokens = await addPeople(before.url);
  site = await openSite(before.url);

  await as('ana').projects.create({ key: 'WEB', name: 'Website' });
  for (const title of ['One', 'Two']) await as('ana').stories.create({ projectId: 'WEB', title });
  const first = await as('ben').deliveryExecutions.acquire({ ...work, runId: 'first' });
  await as('ben').deliveryExecutions.release({
    ...{ executionId: first.execution.id, leaseToken: first.leaseToken },
  });

  await takeBaseBackup(before.url, path.join(folder, 'cluster'));

  // The writes from here on are not in the base backup, only in the archive.
  await as('ana').stories.create(third, key);
  const second = await as('ben').deliveryExecutions.acquire({ ...work, runId: 'second' });
  lease = { executionId: second.execution.id, leaseToken: second.leaseToken };
  await as('ben').deliveryExecutions.checkpoint({ ...lease, summary: 'Half of it is done' });
  await as('ana').members.invite({ email: 'noor@acme.example' });
  licenseKey = await sellLicense(before.url);
  expect(await activate(site, licenseKey, 'machine-of-ana-0001')).toBe(200);
  seen = await snapshotState(as('ana'), lease.executionId);
  await nameThisMoment(before.url, 'before_the_accident');

  // Simulates an accident that deletes all stories.
  const owner = createPool({ url: before.url, role: null, max: 1 });
  await owner.query('delete from stories');
  await owner.end();
  await nameThisMoment(before.url, 'after_the_accident');
  await site.stop();
  before.kill();
  await before.exited;

  restored = await startPostgres({
    ...{ durable: true, dataDir: folder },
    settings: restoreSettings(archive, 'before_the_accident'),
  });
  expect(await migrate(restored.url)).toEqual([]);
  site = await openSite(restored.url);
}, 5 * minutes);

afterAll(async () => {
  await site?.stop();
  await restored?.stop();
  await before?.stop();
  for (const made of [folder, archive]) await rm(made, { recursive: true });
}, minutes);

describe('restored into an empty server', () => {
  it('all is there up to the moment before the accident, and nothing of after it', async () => {
    expect(await snapshotState(as('ana'), lease.executionId)).toEqual(seen);
    expect(seen).toMatchObject({ stories: { length: 3 } });
  });

  it('tokens, leases and epochs go on: the holder holds, another waits, and the next gets the next epoch', async () => {
    const { execution } = await as('ben').deliveryExecutions.renew(lease);
    expect(execution).toMatchObject({ checkpoint: { summary: 'Half of it is done' }, lease: { epoch: 2 } });
    await expect(as('chloe').deliveryExecutions.acquire(work)).rejects.toMatchObject({
      body: { details: { reason: 'lease_held' } },
    });
    await as('ben').deliveryExecutions.release(lease);
    const next = await as('chloe').deliveryExecutions.acquire(work);
    expect(next.execution.lease?.epoch).toBe(3);
    await expect(as('ben').deliveryExecutions.renew(lease)).rejects.toMatchObject({
      body: { details: { reason: 'stale_lease' } },
    });
  });

  it('numbers and streams go on without a gap or a double, and what had a key is answered again', async () => {
    const { story: again } = await as('ana').stories.create(third, key);
    expect(again).toMatchObject({ key: 'WEB-3' });
    const { story } = await as('ana').stories.create({ projectId: 'WEB', title: 'Four' });
    expect(story).toMatchObject({ key: 'WEB-4' });
    const owner = createPool({ url: restored?.url ?? '', role: null, max: 1 });
    try {
      for (const stream of ['activity', 'audit']) {
        const { rows } = await owner.query<{ seqs: string[] }>(
          `select array_agg(seq order by seq) as seqs from ${stream} group by org_id`,
        );
        for (const { seqs } of rows) expect(seqs.map(Number)).toEqual(seqs.map((_, index) => index + 1));
      }
    } finally {
      await owner.end();
    }
  });

  it('everybody sees what is theirs: roles and row security came along', async () => {
    const { items } = await as('ana').stories.list({ projectId: 'WEB' });
    const storyId = items[0]?.id ?? '';
    await expect(as('eve').stories.get({ storyId })).rejects.toMatchObject({ body: { status: 404 } });
    const app = createPool({ url: restored?.url ?? '', role: 'muster_app', max: 1 });
    try {
      // Row-level security hides all rows from a connection that has no organization set.
      expect((await app.query('select from stories')).rows).toEqual([]);
    } finally {
      await app.end();
    }
  });

  it('a license stays with its machine', async () => {
    expect(await activate(running(), licenseKey, 'machine-of-ana-0001')).toBe(200);
    expect(await activate(running(), licenseKey, 'machine-of-ben-0002')).toBe(409);
  });
});

describe('with a Redis that is empty', () => {
  let redis: Redis;
  let worker: ThrowAwayApp | undefined;
  let mails: string;

  beforeAll(async () => {
    mails = path.join(await mkdtemp(path.join(tmpdir(), 'muster-mails-')), 'mail');
    await mkdir(mails);
    redis = await startRedis({ durable: false });
    worker = await startThrowAwayApp('delivery-worker', {
      log: 'warn',
      environment: {
        ...{ DATABASE_URL: restored?.url ?? '', REDIS_URL: redis.url },
        ...{ BASE_URL: running().api.url, MAIL_FOLDER: mails },
      },
    });
  }, 2 * minutes);
  afterAll(async () => {
    await worker?.stop();
    await redis.stop();
    await rm(path.dirname(mails), { recursive: true });
  }, minutes);

  it(
    'what was asked for before the accident is done after it, once',
    async () => {
      const pool = createPool({ url: restored?.url ?? '', role: null, max: 1 });
      const left = async (): Promise<number> =>
        (await pool.query('select from outbox where done_at is null')).rows.length;
      try {
        while ((await left()) > 0) await pause(50);
      } finally {
        await pool.end();
      }
      const texts = await Promise.all(
        (await readdir(mails)).map((file) => readFile(path.join(mails, file), 'utf8')),
      );
      expect(texts.filter((text) => /^To: .*noor@acme\.example/m.test(text))).toHaveLength(1);
    },
    2 * minutes,
  );
});
