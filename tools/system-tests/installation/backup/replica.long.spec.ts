/**
 * Tests the guide's promises about a standby (docs/guides/running-it.md). It answers reads as the primary
 * server would, is never behind the position that a caller knows, and never answers a caller whose rights
 * have ended. After it takes over, work continues.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Client, connect } from '@muster/client';
import { createPool, type Pool } from '@muster/driver';
import { migrate } from '@muster/migrations';
import {
  accountForPostgres,
  makeThrowAwayFolder,
  type Postgres,
  startPostgres,
  startThrowAwayApi,
  type ThrowAwayApi,
} from '@muster/tools';
import { followed, following, takeBaseBackup } from './base-backup.ts';
import { promote, untilCaughtUp } from './standby.ts';
import { makeTeam, type BackedUpMember, tokenOf } from './team.ts';

const minutes = 60_000;

let folder: string;
let primary: Postgres;
let standby: Postgres;
let standbyPool: Pool;
let api: ThrowAwayApi;
let owner: Pool;
let tokens: Record<BackedUpMember, string>;

/**
 * Returns a client that records the positions it sends and receives. The client remembers positions by
 * itself.
 */
const as = (token: string, at = api): Client & { readonly seen: Seen } => {
  const seen: Seen = { told: [], sent: [] };
  const client = connect({
    baseUrl: at.url,
    token,
    fetch: async (url, init) => {
      seen.sent.push(new Headers(init?.headers).get('muster-position'));
      const response = await fetch(url, init);
      seen.told.push(response.headers.get('muster-position'));
      return response;
    },
  });
  return Object.assign(client, { seen });
};
interface Seen {
  readonly told: (string | null)[];
  readonly sent: (string | null)[];
}

const startStandby = (port?: number): Promise<Postgres> =>
  startPostgres({
    ...{ durable: true, dataDir: folder, settings: following(primary.url) },
    ...(port !== undefined && { port }),
  });

const caughtUp = (): Promise<void> => untilCaughtUp(owner, standbyPool);

/**
 * Pauses replay at the standby during `work`, so that the standby receives the writes of `work` only
 * afterwards.
 */
async function heldBack(work: () => Promise<void>): Promise<void> {
  await caughtUp();
  await standbyPool.query('select pg_wal_replay_pause()');
  const isPaused = async (): Promise<boolean> =>
    (await standbyPool.query<{ state: string }>('select pg_get_wal_replay_pause_state() as state')).rows[0]
      ?.state === 'paused';
  while (!(await isPaused())) await pause(10);
  try {
    await work();
  } finally {
    await standbyPool.query('select pg_wal_replay_resume()');
  }
  await caughtUp();
}

/** The number of reads by outcome since the last call of `reads`. */
let counted: Record<string, number> = {};
async function reads(): Promise<Record<string, number>> {
  const text = await (await fetch(`${api.metricsUrl}/metrics`)).text();
  const found = text.matchAll(/^muster_standby_reads_total\{outcome="(\w+)".*\} (\d+)$/gm);
  const now = Object.fromEntries([...found].map(([, outcome = '', count]) => [outcome, Number(count)]));
  const since = Object.entries(now).map(
    ([outcome, count]) => [outcome, count - (counted[outcome] ?? 0)] as const,
  );
  counted = now;
  return Object.fromEntries(since.filter(([, count]) => count > 0));
}

const openPool = (url: string): Pool => createPool({ url, role: null, max: 2 });

beforeAll(async () => {
  folder = await makeThrowAwayFolder('muster-postgres-', await accountForPostgres());
  primary = await startPostgres({ durable: false, settings: followed });
  owner = openPool(primary.url);
  await migrate(primary.url);
  tokens = await makeTeam(owner);
  await takeBaseBackup(primary.url, path.join(folder, 'cluster'), 'standby');
  standby = await startStandby();
  standbyPool = openPool(standby.url);
  api = await startThrowAwayApi({
    databaseUrl: primary.url,
    log: 'warn',
    environment: { DATABASE_REPLICA_URL: standby.url, DATABASE_REPLICA_TIMEOUT_MILLIS: '60000' },
  });
  await as(tokens.ana).projects.create({ key: 'WEB', name: 'Website' });
}, 5 * minutes);

afterAll(async () => {
  await api.stop();
  await Promise.all([owner.end(), standbyPool.end()]);
  await standby.stop();
  await primary.stop();
  await rm(folder, { recursive: true });
}, minutes);

/** Returns a client whose permissions the process has cached and whose position the standby has reached. */
async function known(token: string): Promise<ReturnType<typeof as>> {
  const caller = as(token);
  await caller.stories.list({ projectId: 'WEB' });
  await caughtUp();
  await reads();
  return caller;
}

/** Sends a read with this position and returns its HTTP status. */
async function statusAt(position: string, token: string): Promise<number> {
  const { status } = await fetch(`${api.url}/api/stories/list`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      'muster-position': position,
    },
    body: JSON.stringify({ projectId: 'WEB' }),
  });
  return status;
}

const titles = async (caller: Client): Promise<string[]> =>
  (await caller.stories.list({ projectId: 'WEB' })).items.map(({ title }) => title);

describe('a read that brings a position', () => {
  beforeEach(async () => {
    await reads();
  });

  it('is answered by the standby once that has come so far, and shows what its caller wrote', async () => {
    const caller = await known(await tokenOf(owner, 'ana'));
    await caller.stories.create({ projectId: 'WEB', title: 'Seen at the standby' });
    await caughtUp();
    expect(await titles(caller)).toContain('Seen at the standby');
    expect(await reads()).toEqual({ standby: 1 });
    expect(caller.seen.told.every((position) => /^[0-9A-F]+\/[0-9A-F]+$/.test(position ?? ''))).toBe(true);
    expect(caller.seen.sent[0]).toBeNull();
    expect(caller.seen.sent.at(-1)).toBe(caller.seen.told.at(-2));
  });

  it('is answered by the primary before, so that its caller sees it all the same', async () => {
    const caller = await known(await tokenOf(owner, 'ana'));
    await heldBack(async () => {
      await caller.stories.create({ projectId: 'WEB', title: 'Not there yet' });
      expect(await titles(caller)).toContain('Not there yet');
      expect(await reads()).toEqual({ behind: 1 });
    });
    expect(await titles(caller)).toContain('Not there yet');
    expect(await reads()).toEqual({ standby: 1 });
  });

  it('shows what others wrote before it was sent, whatever its own position', async () => {
    const reader = await known(await tokenOf(owner, 'ben'));
    await heldBack(async () => {
      await as(tokens.ana).stories.create({ projectId: 'WEB', title: 'Told by another way' });
      expect(await titles(reader)).toContain('Told by another way');
      expect(await reads()).toEqual({ behind: 1 });
    });
  });

  it('is answered by the primary where it is one that the standby never reached', async () => {
    const token = await tokenOf(owner, 'ana');
    await known(token);
    expect(await statusAt('FFFF/0', token)).toBe(200);
    expect(await reads()).toEqual({ behind: 1 });
  });

  it('is refused with 400 where it is none', async () => {
    expect(await statusAt('yesterday', tokens.ana)).toBe(400);
  });
});

describe('the primary answers', () => {
  it('a read without a position', async () => {
    const token = await tokenOf(owner, 'ana');
    await known(token);
    await as(token).stories.list({ projectId: 'WEB' });
    expect(await reads()).toEqual({ unasked: 1 });
  });

  it('who holds work and who gets in', async () => {
    const caller = await known(await tokenOf(owner, 'ana'));
    await caller.locks.list({ projectId: 'WEB' });
    await caller.tokens.list();
    expect(await reads()).toEqual({});
  });

  it('what the standby refuses: it may be there', async () => {
    const caller = await known(await tokenOf(owner, 'ana'));
    await expect(caller.stories.get({ storyId: 'WEB-4711' })).rejects.toMatchObject({
      body: { status: 404 },
    });
    const outcomes = await reads();
    expect(outcomes['standby']).toBeUndefined();
  });
});

describe('rights that end', () => {
  it('have ended at the standby too, though it does not know: a revoked token reads nothing more', async () => {
    const { secret, token } = await as(tokens.ben).tokens.create({ name: 'Laptop', scopes: ['read'] });
    const caller = await known(secret);
    await caller.stories.list({ projectId: 'WEB' });
    expect(await reads()).toEqual({ standby: 1 });
    await heldBack(async () => {
      await as(tokens.ben).tokens.revoke({ tokenId: token.id });
      await expect(caller.stories.list({ projectId: 'WEB' })).rejects.toMatchObject({
        body: { status: 401 },
      });
    });
    await expect(caller.stories.list({ projectId: 'WEB' })).rejects.toMatchObject({ body: { status: 401 } });
    expect((await reads())['standby']).toBeUndefined();
  });

  it('so do those in a project that was made private', async () => {
    const ana = as(tokens.ana);
    await ana.projects.create({ key: 'SEC', name: 'Secret' });
    await ana.stories.create({ projectId: 'SEC', title: 'Hidden' });
    const caller = await known(await tokenOf(owner, 'chloe'));
    await caller.stories.list({ projectId: 'SEC' });
    await caughtUp();
    await reads();
    await caller.stories.get({ storyId: 'SEC-1' });
    expect(await reads()).toEqual({ standby: 1 });
    await heldBack(async () => {
      await ana.projects.update({ projectId: 'SEC', visibility: 'private' });
      await expect(caller.stories.get({ storyId: 'SEC-1' })).rejects.toMatchObject({ body: { status: 404 } });
      const { items } = await caller.projects.list();
      expect(items.map(({ key }) => key)).not.toContain('SEC');
    });
    expect((await reads())['standby']).toBeUndefined();
  });

  it('are not judged by a standby that is in an older epoch of them', async () => {
    const reader = await tokenOf(owner, 'chloe');
    await known(reader);
    const { token } = await as(tokens.ana).tokens.create({ name: 'Other', scopes: ['read'] });
    await heldBack(async () => {
      await as(tokens.ana).tokens.revoke({ tokenId: token.id });
      // The API learns a rights epoch that the standby does not know yet.
      await as(reader).stories.list({ projectId: 'WEB' });
      await reads();
      expect(await statusAt('0/0', reader)).toBe(200);
      expect(await reads()).toEqual({ rights: 1 });
    });
    expect(await statusAt('0/0', reader)).toBe(200);
    expect(await reads()).toEqual({ standby: 1 });
  });
});

describe('a standby that is away', () => {
  it(
    'costs its callers nothing: the primary answers, and the standby does again once it is back',
    async () => {
      const caller = await known(await tokenOf(owner, 'ana'));
      await standbyPool.end();
      await standby.stop();
      await caller.stories.list({ projectId: 'WEB' });
      expect(await reads()).toEqual({ away: 1 });
      standby = await startStandby(standby.port);
      standbyPool = openPool(standby.url);
      do await caller.stories.list({ projectId: 'WEB' });
      while ((await reads())['standby'] === undefined);
    },
    2 * minutes,
  );
});

describe('a standby that takes over', () => {
  let lease: { executionId: string; leaseToken: string };
  let revoked: string;
  let before: ReturnType<typeof as>;

  beforeAll(async () => {
    const work = { targetType: 'story', targetId: 'WEB-1', ttlSeconds: 3600 } as const;
    const { execution, leaseToken } = await as(tokens.ben).deliveryExecutions.acquire(work);
    lease = { executionId: execution.id, leaseToken };
    const { secret, token } = await as(tokens.ben).tokens.create({ name: 'Laptop', scopes: ['read'] });
    await as(tokens.ben).tokens.revoke({ tokenId: token.id });
    revoked = secret;
    before = as(tokens.ana);
    await before.stories.list({ projectId: 'WEB' });
    await caughtUp();
    await api.stop();
    primary.kill();
    await primary.exited;
    await promote(standbyPool);
    api = await startThrowAwayApi({
      databaseUrl: standby.url,
      log: 'warn',
      // The former standby's address is now the address of the only server.
      environment: { DATABASE_REPLICA_URL: standby.url },
    });
    counted = {};
  }, 2 * minutes);

  it('has the holder go on, keeps others out, and grants the next epoch after that', async () => {
    const work = { targetType: 'story', targetId: 'WEB-1' } as const;
    const { execution } = await as(tokens.ben).deliveryExecutions.renew(lease);
    expect(execution.lease?.epoch).toBe(1);
    await expect(as(tokens.chloe).deliveryExecutions.acquire(work)).rejects.toMatchObject({
      body: { details: { reason: 'lease_held' } },
    });
    await as(tokens.ben).deliveryExecutions.release(lease);
    const next = await as(tokens.chloe).deliveryExecutions.acquire(work);
    expect(next.execution.lease?.epoch).toBe(2);
  });

  it('lets in who was let in before, with the position of before, and no other', async () => {
    expect(await statusAt(before.seen.told.at(-1) ?? '', tokens.ana)).toBe(200);
    await expect(as(revoked).stories.list({ projectId: 'WEB' })).rejects.toMatchObject({
      body: { status: 401 },
    });
  });

  it('answers nothing as a standby any more', async () => {
    const token = await tokenOf(standbyPool, 'ana');
    await as(token).stories.list({ projectId: 'WEB' });
    await reads();
    expect(await statusAt('0/0', token)).toBe(200);
    expect(await reads()).toEqual({ behind: 1 });
  });
});
