/** No job is lost or done twice, wherever a process dies between a write and its job. */
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, newId, sql } from '@muster/driver';
import { type DeadJob, listDeadJobs, replayJobs } from '@muster/organizations';
import { killedJobFreedAfterMillis } from '@muster/redis/queues';
import { withTestTimeouts, useWorld, startBreakableRelay } from '@muster/testing';
import { type RowWorker } from '../src/perform.ts';
import { defaultFirstRetryDelaySeconds } from '../src/relay.ts';
import { type OutboxHarness, openOutboxHarness, redisUrl, waitUntil } from './line.ts';

const world = useWorld({});
let harnesses: OutboxHarness[] = [];
const openHarness = (url?: string): OutboxHarness => {
  const line = openOutboxHarness(world, url);
  harnesses.push(line);
  return line;
};

beforeAll(async () => {
  // The jobs of these specs insert one row into this table each time they run.
  await world.rows('create table effects (org_id uuid, row_id uuid)');
  await world.rows('grant select, insert on effects to muster_app');
});
afterEach(async () => {
  await Promise.all(harnesses.map((line) => line.close()));
  harnesses = [];
});

const topic = 'notification.mail';
const payload = () => ({ notificationId: newId() });
const enqueueMany = async (line: OutboxHarness, orgId: string, count: number): Promise<string[]> => {
  const rows = Array.from({ length: count }, () => ({ id: newId(), payload: payload() }));
  await line.askAll(orgId, topic, rows);
  return rows.map(({ id }) => id);
};

const recordEffect: RowWorker<unknown> = async ({ db, orgId, rowId }) => {
  await db.all(sql`insert into effects values (${orgId}, ${rowId})`);
  return undefined;
};
const effects = async (orgId: string): Promise<string[]> =>
  (
    await world.rows<{ id: string }>(
      'select row_id as id from effects where org_id = $1 order by row_id',
      orgId,
    )
  ).map(({ id }) => id);
const deadJobsOf = async (slug: string): Promise<DeadJob[]> =>
  (await listDeadJobs(world.database.owner)).filter(({ org }) => org === slug);
const allDone = async (line: OutboxHarness, orgId: string): Promise<boolean> =>
  (await line.rows(orgId)).every((row) => row.done);

describe('the relay', () => {
  it('dispatches what was written, once as long as its time is not over', async () => {
    const line = openHarness();
    const { orgId } = await world.org();
    await enqueueMany(line, orgId, 20);
    expect(await line.runRelayTurn()).toBe('rest');
    await line.runRelayTurn();
    expect((await line.queues.waiting()).deliver).toBe(20);
    expect(new Set((await line.rows(orgId)).map((row) => row.attempts))).toEqual(new Set([1]));
  });

  it('shares rows between relays, each to one', async () => {
    const line = openHarness();
    const { orgId } = await world.org();
    await enqueueMany(line, orgId, 300);
    await Promise.all([line.runRelayTurn(), line.runRelayTurn(), line.runRelayTurn()]);
    expect((await line.rows(orgId)).filter((row) => row.attempts !== 1)).toEqual([]);
    expect((await line.queues.waiting()).deliver).toBe(300);
  });

  it('makes one job of all the events of an organization', async () => {
    const line = openHarness();
    const [{ orgId }, other] = [await world.org(), await world.org()];
    for (let seq = 1; seq <= 5; seq += 1) {
      await line.ask(orgId, 'event', { activitySeq: seq, kind: 'story.created' });
      await line.ask(other.orgId, 'event', { activitySeq: seq, kind: 'story.created' });
    }
    const synced: string[] = [];
    await line.runRelayTurn();
    expect((await line.queues.waiting()).sync).toBe(2);
    line.startWorkers({ event: async (work) => void synced.push(work.orgId) });
    await waitUntil(async () => (await allDone(line, orgId)) && (await allDone(line, other.orgId)));
    expect(synced.sort()).toEqual([orgId, other.orgId].sort());
  });

  it('comes again with a row when the queues have let go of what a killed worker had, and not before', () => {
    expect(defaultFirstRetryDelaySeconds * 1_000).toBeGreaterThan(killedJobFreedAfterMillis);
  });

  it('leaves rows where they are while their queue is full, or their topic is of a newer release', async () => {
    const line = openHarness();
    const { orgId } = await world.org();
    await enqueueMany(line, orgId, 1_001);
    while ((await line.runRelayTurn()) === 'more') continue;
    await line.ask(orgId, topic, payload());
    await line.runRelayTurn();
    expect((await line.rows(orgId)).at(-1)).toMatchObject({ attempts: 0 });

    await world.rows(
      `update outbox set topic = 'of.tomorrow', attempts = 0, dispatch_after = now() where org_id = $1`,
      orgId,
    );
    await line.flush();
    await line.runRelayTurn();
    expect((await line.rows(orgId)).filter((row) => row.attempts > 0)).toEqual([]);
  });

  it('counts no attempt while Redis is away, and goes on when it is back', async () => {
    const wire = await startBreakableRelay(redisUrl());
    const line = openHarness(wire.url);
    const { orgId } = await world.org();
    const [id] = await enqueueMany(line, orgId, 1);
    await line.queues.waiting();
    wire.cut();
    await expect(line.runRelayTurn()).rejects.toThrow();
    expect(await line.rows(orgId)).toMatchObject([{ attempts: 0 }]);

    // Redis becomes unavailable between the check of the queues and the dispatch.
    const lateCut = {
      ...line.queues,
      waiting: async () => ({ deliver: 0, sync: 0, upkeep: 0, leases: 0, billing: 0, exports: 0 }),
    };
    const { runRelayTurn } = await import('../src/relay.ts');
    await expect(
      runRelayTurn({ pool: world.database.app, queues: lateCut, onDead: () => undefined }),
    ).rejects.toThrow();
    expect(await line.rows(orgId)).toMatchObject([{ attempts: 0, done: false }]);

    wire.restore();
    line.startWorkers({ [topic]: recordEffect }, { url: redisUrl() });
    await line.makeRowsDue();
    await waitUntil(() =>
      line.runRelayTurn().then(
        () => true,
        () => false,
      ),
    );
    await waitUntil(() => allDone(line, orgId));
    expect(await effects(orgId)).toEqual([id]);
    await line.close();
    await wire.close();
  });
});

describe('a job', () => {
  it('is done once though it is delivered twice, by two workers at once', async () => {
    const line = openHarness();
    const { orgId } = await world.org();
    const ids = await enqueueMany(line, orgId, 60);
    line.startWorkers({ [topic]: recordEffect });
    line.startWorkers({ [topic]: recordEffect });
    // Redis loses queued jobs, so the same rows are dispatched again while workers process them.
    await line.runRelayTurn();
    await line.flush();
    await line.makeRowsDue();
    await line.runRelayTurn();
    await waitUntil(async () => {
      const { waiting, active } = (await line.queues.counts()).deliver;
      if (waiting + active === 0) {
        await line.makeRowsDue();
        await line.runRelayTurn();
      }
      return allDone(line, orgId);
    });
    await waitUntil(async () => (await line.queues.counts()).deliver.active === 0);
    expect(await effects(orgId)).toEqual(ids.sort());
  });

  it('survives a flush of Redis', async () => {
    const line = openHarness();
    const { orgId } = await world.org();
    const ids = await enqueueMany(line, orgId, 30);
    await line.runRelayTurn();
    await line.flush();
    line.startWorkers({ [topic]: recordEffect });
    await line.makeRowsDue();
    await line.runRelayTurn();
    await waitUntil(() => allDone(line, orgId));
    expect(await effects(orgId)).toEqual(ids.sort());
  });

  it('is lost by a flush where adding it counts as done: this spec can tell', async () => {
    const line = openHarness();
    const { orgId } = await world.org();
    await enqueueMany(line, orgId, 30);
    await line.runRelayTurn();
    await world.rows('update outbox set done_at = now() where org_id = $1 and attempts > 0', orgId);
    await line.flush();
    line.startWorkers({ [topic]: recordEffect });
    await line.makeRowsDue();
    await line.runRelayTurn();
    expect(await allDone(line, orgId)).toBe(true);
    expect(await effects(orgId)).toEqual([]);
  });

  it('is done by another worker when the first dies in the middle, and what it had begun is undone', async () => {
    const line = openHarness();
    const { orgId } = await world.org();
    const [id] = await enqueueMany(line, orgId, 1);
    const doomed = withTestTimeouts(
      createPool({ url: world.database.url, role: 'muster_app', name: 'doomed' }),
    );
    const reached = Promise.withResolvers<number>();
    line.startWorkers(
      {
        [topic]: async (work) => {
          await recordEffect(work);
          const { pid } = await work.db.one(sql<{ pid: number }>`select pg_backend_pid() as pid`);
          reached.resolve(pid);
          // The worker is killed here, so it reports nothing.
          await work.db.all(sql`select pg_sleep(30)`);
          return undefined;
        },
      },
      { pool: doomed },
    );
    await line.runRelayTurn();
    await world.rows('select pg_terminate_backend($1)', await reached.promise);
    await waitUntil(() => line.ends.some(({ outcome }) => outcome === 'failed'));
    expect(await effects(orgId)).toEqual([]);
    await line.close();
    await doomed.end();

    const second = openHarness();
    second.startWorkers({ [topic]: recordEffect });
    await second.makeRowsDue();
    await second.runRelayTurn();
    await waitUntil(() => allDone(second, orgId));
    expect(await effects(orgId)).toEqual([id]);
  });

  it('is nothing any more once its organization is deleted', async () => {
    const line = openHarness();
    const { orgId } = await world.org();
    await enqueueMany(line, orgId, 1);
    await world.rows('update orgs set deleted_at = now() where id = $1', orgId);
    line.startWorkers({ [topic]: recordEffect });
    await line.runRelayTurn();
    await waitUntil(() => allDone(line, orgId));
    expect({ effects: await effects(orgId), ends: line.ends }).toEqual({
      effects: [],
      ends: [{ name: topic, outcome: 'skipped' }],
    });
  });

  it('sees its own organization only', async () => {
    const line = openHarness();
    const [{ orgId }, other] = [await world.org(), await world.org()];
    await enqueueMany(line, orgId, 1);
    const seen = Promise.withResolvers<string[]>();
    line.startWorkers({
      [topic]: async ({ db }) => {
        const rows = await db.all(sql<{ id: string }>`select id from orgs`);
        seen.resolve(rows.map(({ id }) => id));
        return undefined;
      },
    });
    await line.runRelayTurn();
    expect(await seen.promise).toEqual([orgId]);
    expect(other.orgId).not.toBe(orgId);
  });
});

describe('what leaves the house', () => {
  it('goes out after the commit, and its row is done after it', async () => {
    const line = openHarness();
    const { orgId } = await world.org();
    await enqueueMany(line, orgId, 1);
    const before: boolean[] = [];
    line.startWorkers({
      [topic]: async (work) => {
        await recordEffect(work);
        return async () => {
          before.push((await effects(orgId)).length === 1, await allDone(line, orgId));
          return async (db) => {
            await db.all(sql`insert into effects values (${orgId}, ${orgId})`);
          };
        };
      },
    });
    await line.runRelayTurn();
    await waitUntil(() => allDone(line, orgId));
    expect(before).toEqual([true, false]);
    expect(await effects(orgId)).toHaveLength(2);
  });

  it('is held meanwhile: nobody dispatches it a second time', async () => {
    const line = openHarness();
    const { orgId } = await world.org();
    await enqueueMany(line, orgId, 1);
    const sending = Promise.withResolvers<undefined>();
    const begun = Promise.withResolvers<undefined>();
    let sent = 0;
    const send: RowWorker<unknown> = async () => async () => {
      sent += 1;
      begun.resolve(undefined);
      return sending.promise;
    };
    line.startWorkers({ [topic]: send });
    await line.runRelayTurn();
    await begun.promise;
    // Redis loses the information that a worker has the job.
    await line.flush();
    const [held] = await world.rows<{ seconds: number }>(
      'select extract(epoch from dispatch_after - now())::float as seconds from outbox where org_id = $1',
      orgId,
    );
    expect(held?.seconds).toBeGreaterThan(25);
    await line.runRelayTurn();
    expect((await line.queues.waiting()).deliver).toBe(0);
    sending.resolve(undefined);
    await waitUntil(() => allDone(line, orgId));
    expect(sent).toBe(1);
  });
});

describe('a job that fails each time', () => {
  it('is given up after twelve attempts, with an audit entry, and an operator may replay it', async () => {
    const line = openHarness();
    const { orgId, slug } = await world.org();
    const [id = ''] = await enqueueMany(line, orgId, 1);
    let isPoison = true;
    line.startWorkers({
      [topic]: async (work) => {
        if (isPoison) throw new Error('the poison of this spec');
        return recordEffect(work);
      },
    });
    for (let attempt = 1; attempt <= 12; attempt += 1) {
      await line.runRelayTurn();
      await waitUntil(() => line.ends.length === attempt);
      await waitUntil(async () => (await line.queues.counts()).deliver.active === 0);
      await line.makeRowsDue();
    }
    expect(line.dead).toEqual([]);
    await line.runRelayTurn();
    expect(line.dead).toMatchObject([{ orgId, id, topic }]);
    expect(await line.rows(orgId)).toMatchObject([
      { id, attempts: 12, dead: true, done: false, error: 'the poison of this spec' },
    ]);
    await line.makeRowsDue();
    await line.runRelayTurn();
    expect(line.ends).toHaveLength(12);
    const audit = await world.rows<object>(
      'select actor, operation, target, outcome from audit where org_id = $1',
      orgId,
    );
    expect(audit).toEqual([
      {
        actor: { kind: 'system', memberId: null, agentId: null, name: 'worker' },
        operation: `worker.abandon.${topic}`,
        target: id,
        outcome: 'allowed',
      },
    ]);

    expect(await deadJobsOf(slug)).toMatchObject([
      { id, org: slug, topic, attempts: 12, error: 'the poison of this spec' },
    ]);
    isPoison = false;
    expect(await replayJobs(world.database.owner, { ids: [id] })).toEqual([id]);
    expect(await deadJobsOf(slug)).toEqual([]);
    await line.runRelayTurn();
    await waitUntil(() => allDone(line, orgId));
    expect(await effects(orgId)).toEqual([id]);
    expect(
      await world.rows<object>('select operation, target from audit where org_id = $1 and seq = 2', orgId),
    ).toEqual([{ operation: 'operators.replayJob', target: id }]);
  });

  it('fails for a payload that does not fit its contract, and says why', async () => {
    const line = openHarness();
    const { orgId } = await world.org();
    await enqueueMany(line, orgId, 1);
    await world.rows(`update outbox set payload = '{"wrong": 1}' where org_id = $1`, orgId);
    line.startWorkers({ [topic]: recordEffect });
    await line.runRelayTurn();
    await waitUntil(async () => (await line.rows(orgId))[0]?.error != null);
    expect(await line.rows(orgId)).toMatchObject([
      { done: false, error: expect.stringContaining('notificationId') },
    ]);
  });

  it('of events is made good by the next that succeeds', async () => {
    const line = openHarness();
    const { orgId } = await world.org();
    const dead = await line.ask(orgId, 'event', { activitySeq: 1, kind: 'story.created' });
    await world.rows('update outbox set dead_at = now() where id = $1', dead);
    await line.ask(orgId, 'event', { activitySeq: 2, kind: 'story.created' });
    line.startWorkers({ event: async () => undefined });
    await line.runRelayTurn();
    await waitUntil(() => allDone(line, orgId));
    expect((await line.rows(orgId)).map((row) => row.id)).toContain(dead);
  });
});
