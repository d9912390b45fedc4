/**
 * Tests the guide's promise about a standby that takes over without the last seconds of writes
 * (docs/guides/running-it.md). Muster never issues again a number or secret that it issued in those seconds.
 * It warns callers who saw one.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, connect } from '@muster/client';
import { createPool, type Pool } from '@muster/driver';
import { migrate } from '@muster/migrations';
import { skipNumbersAfterFailover } from '@muster/organizations';
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
import { makeTeam, type BackedUpMember } from './team.ts';

const minutes = 60_000;
const story = (targetId: string) => ({ targetType: 'story', targetId, ttlSeconds: 3600 }) as const;

interface Held {
  readonly by: { readonly executionId: string; readonly leaseToken: string };
  readonly epoch: number;
}

let folder: string;
let primary: Postgres;
let standby: Postgres;
let after: Pool;
let api: ThrowAwayApi;
let tokens: Record<BackedUpMember, string>;
/**
 * `kept`: data from before the loss that the standby has received. `lost`: data that the standby never
 * received.
 */
let kept: { lease: Held; cursor: string; fencingToken: number };
let lost: { lease: Held; first: Held; cursor: string; fencingToken: number };

const as = (who: BackedUpMember): Client => connect({ baseUrl: api.url, token: tokens[who] });

async function acquire(who: BackedUpMember, key: string): Promise<Held> {
  const { execution, leaseToken } = await as(who).deliveryExecutions.acquire(story(key));
  return { by: { executionId: execution.id, leaseToken }, epoch: execution.lease?.epoch ?? 0 };
}

async function lockAndLeave(): Promise<number> {
  const { lock } = await as('ana').locks.acquire({ projectId: 'WEB', resources: ['src/**'] });
  await as('ana').locks.release({ lockId: lock?.id ?? '' });
  return lock?.fencingToken ?? 0;
}

const follow = (cursor: string) => as('ana').events.list({ after: cursor });
const latestEventCursor = async (): Promise<string> =>
  (await as('ana').events.list({ after: 'latest' })).cursor;

beforeAll(async () => {
  folder = await makeThrowAwayFolder('muster-postgres-', await accountForPostgres());
  primary = await startPostgres({ durable: false, settings: followed });
  const owner = createPool({ url: primary.url, role: null, max: 1 });
  await migrate(primary.url);
  tokens = await makeTeam(owner);
  await takeBaseBackup(primary.url, path.join(folder, 'cluster'), 'standby');
  const asStandby = { durable: true, dataDir: folder, settings: following(primary.url) } as const;
  standby = await startPostgres(asStandby);
  const standbyPool = createPool({ url: standby.url, role: null, max: 1 });
  api = await startThrowAwayApi({ databaseUrl: primary.url, log: 'warn' });

  await as('ana').projects.create({ key: 'WEB', name: 'Website' });
  for (const title of ['One', 'Two']) await as('ana').stories.create({ projectId: 'WEB', title });
  kept = {
    lease: await acquire('ben', 'WEB-1'),
    fencingToken: await lockAndLeave(),
    cursor: await latestEventCursor(),
  };
  await untilCaughtUp(owner, standbyPool);
  await standbyPool.end();
  await standby.stop();

  await as('ben').deliveryExecutions.release(kept.lease.by);
  lost = {
    lease: await acquire('chloe', 'WEB-1'),
    first: await acquire('chloe', 'WEB-2'),
    fencingToken: await lockAndLeave(),
    cursor: await latestEventCursor(),
  };
  await api.stop();
  await owner.end();
  primary.kill();
  await primary.exited;

  standby = await startPostgres(asStandby);
  after = createPool({ url: standby.url, role: null, max: 1 });
  await promote(after);
  expect(await skipNumbersAfterFailover(after)).toEqual(['acme']);
  api = await startThrowAwayApi({ databaseUrl: standby.url, log: 'warn' });
}, 5 * minutes);

afterAll(async () => {
  await api.stop();
  await after.end();
  await standby.stop();
  await primary.stop();
  await rm(folder, { recursive: true });
}, minutes);

const refusal = (reason: string) => ({ body: { details: { reason } } });

describe('after a loss', () => {
  it('a holder of before still holds, others are kept out, and it goes on once it has acquired again', async () => {
    await expect(as('chloe').deliveryExecutions.acquire(story('WEB-1'))).rejects.toMatchObject(
      refusal('lease_held'),
    );
    await expect(as('ben').deliveryExecutions.renew(kept.lease.by)).rejects.toMatchObject(
      refusal('stale_lease'),
    );
    const again = await acquire('ben', 'WEB-1');
    expect(again.by.executionId).toBe(kept.lease.by.executionId);
    expect(again.epoch).toBeGreaterThan(lost.lease.epoch);
    await as('ben').deliveryExecutions.renew(again.by);
  });

  it('whoever acquired in the lost seconds is fenced, and its epochs are not granted again', async () => {
    await expect(as('chloe').deliveryExecutions.renew(lost.lease.by)).rejects.toMatchObject(
      refusal('stale_lease'),
    );
    const first = await acquire('ben', 'WEB-2');
    expect(first.epoch).toBeGreaterThan(lost.first.epoch);
    expect(await lockAndLeave()).toBeGreaterThan(lost.fencingToken);
  });

  it('who followed events into the lost seconds is told to read anew, and who had not goes on', async () => {
    await expect(follow(lost.cursor)).rejects.toMatchObject(refusal('resync'));
    await as('ana').stories.create({ projectId: 'WEB', title: 'Three' });
    const { items, cursor } = await follow(kept.cursor);
    expect(items.map(({ kind }) => kind)).toContain('story.created');
    expect((await follow(cursor)).items).toEqual([]);
  });

  it('is in the audit of each organization, and can be done once more', async () => {
    const { items } = await as('ana').audit.list({ operation: 'operators.afterLoss' });
    expect(items).toHaveLength(1);
    expect(await skipNumbersAfterFailover(after)).toEqual(['acme']);
    expect((await as('ana').audit.list({ operation: 'operators.afterLoss' })).items).toHaveLength(2);
  });
});
