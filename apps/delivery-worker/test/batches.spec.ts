/** Jobs that only use Postgres run in batches; a failing one does not affect the others. */
import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { newId, sql } from '@muster/driver';
import { maxBatchRows, JobTicket } from '@muster/jobs';
import { useWorld } from '@muster/testing';
import { type BatchWorker, createJobPerformer } from '../src/perform.ts';
import { type OutboxHarness, openOutboxHarness, waitUntil, workersWith } from './line.ts';

const world = useWorld({});
const topic = 'notification.deliver';
const harnesses: OutboxHarness[] = [];
const openHarness = (): OutboxHarness => {
  const line = openOutboxHarness(world);
  harnesses.push(line);
  return line;
};

beforeAll(async () => {
  await world.rows('create table effects (org_id uuid, row_id uuid, by xid8 default pg_current_xact_id())');
  await world.rows('grant select, insert on effects to muster_app');
});
afterEach(async () => {
  await Promise.all(harnesses.splice(0).map((line) => line.close()));
});

async function enqueueMany(line: OutboxHarness, orgId: string, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => ({ id: newId(), payload: { notificationId: newId() } }));
  await line.askAll(orgId, topic, rows);
  return rows.map(({ id }) => id).sort();
}
const recordEffect: BatchWorker<unknown> = async ({ db, orgId, rowId }) => {
  await db.all(sql`insert into effects values (${orgId}, ${rowId})`);
};
const effects = (orgId: string): Promise<{ id: string; by: string }[]> =>
  world.rows<{ id: string; by: string }>(
    'select row_id as id, by::text as by from effects where org_id = $1 order by row_id',
    orgId,
  );
const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);
const areAllDone = async (line: OutboxHarness, orgId: string): Promise<boolean> =>
  (await line.rows(orgId)).every(({ done }) => done);

it('rows of an organization share jobs and transactions, so many in each', async () => {
  const line = openHarness();
  const [{ orgId }, other] = [await world.org(), await world.org()];
  const ids = await enqueueMany(line, orgId, 2 * maxBatchRows + 1);
  await enqueueMany(line, other.orgId, 2);
  await line.runRelayTurn();
  expect((await line.queues.waiting()).deliver).toBe(4);
  line.startWorkers({ [topic]: recordEffect });
  await waitUntil(async () => (await areAllDone(line, orgId)) && (await areAllDone(line, other.orgId)));
  const left = await effects(orgId);
  expect(idsOf(left)).toEqual(ids);
  expect(new Set(left.map(({ by }) => by)).size).toBe(3);
});

it('one that fails keeps no other from being done, and is tried alone from then on', async () => {
  const line = openHarness();
  const { orgId } = await world.org();
  const ids = await enqueueMany(line, orgId, 5);
  const [poison, ...others] = [...ids.slice(2), ...ids.slice(0, 2)];
  line.startWorkers({
    [topic]: async (work) => {
      await recordEffect(work);
      if (work.rowId === poison) throw new Error('the poison of this spec');
    },
  });
  await line.runRelayTurn();
  await waitUntil(() => line.ends.length === 1);
  expect(line.ends).toMatchObject([{ outcome: 'failed' }]);
  expect(idsOf(await effects(orgId))).toEqual(others.sort());
  const rows = await line.rows(orgId);
  expect(idsOf(rows.filter(({ done }) => !done))).toEqual([poison]);
  expect(rows.map(({ error }) => error).filter((error) => error !== null)).toEqual([
    'the poison of this spec',
  ]);

  const [late = ''] = await enqueueMany(line, orgId, 1);
  await line.makeRowsDue();
  await line.runRelayTurn();
  await waitUntil(() => line.ends.length === 3);
  expect(line.ends.map(({ outcome }) => outcome).sort()).toEqual(['done', 'failed', 'failed']);
  expect(idsOf(await effects(orgId))).toEqual([...others, late].sort());
});

it('that is out of time says so of all that it has not done', async () => {
  const line = openHarness();
  const { orgId } = await world.org();
  const [rowId = '', ...others] = await enqueueMany(line, orgId, 3);
  const time = new AbortController();
  const begun = Promise.withResolvers<undefined>();
  const run = createJobPerformer(
    world.database.app,
    workersWith({
      [topic]: async () => {
        begun.resolve(undefined);
        await new Promise<never>(() => undefined);
      },
    }),
  );
  const outcome = run(topic, { orgId, rowId, others }, time.signal);
  await begun.promise;
  time.abort();
  await expect(outcome).rejects.toThrow('3 of 3 rows failed');
  expect((await line.rows(orgId)).map(({ error, done }) => ({ error, done }))).toEqual(
    [rowId, ...others].map(() => ({ error: 'the job exceeded its time limit', done: false })),
  );
});

it('goes on in the traces of those who asked for it, and of nobody else', async () => {
  const line = openHarness();
  const { orgId } = await world.org();
  await enqueueMany(line, orgId, maxBatchRows + 2);
  await world.rows(
    `update outbox set trace_parent = '00-' || replace(id::text, '-', '') || '-0000000000000001-01' where org_id = $1`,
    orgId,
  );
  await line.runRelayTurn();
  const waiting = (await Promise.all(line.queues.all.map((queue) => queue.getWaiting()))).flat();
  const traced = waiting
    .map(({ data, opts }) => ({ ticket: JobTicket.parse(data), told: opts.telemetry?.metadata ?? '' }))
    .filter(({ ticket }) => ticket.orgId === orgId)
    .map(({ ticket: { rowId, others = [] }, told }) => {
      const own = new Set([rowId, ...others].map((id) => id.replaceAll('-', '')));
      const parents = told.split(' ').map((parent) => parent.split('-')[1] ?? '');
      return { rows: own.size, parents: parents.length, ofOthers: parents.filter((id) => !own.has(id)) };
    });
  expect(traced.toSorted((one, other) => other.rows - one.rows)).toEqual([
    { rows: maxBatchRows, parents: maxBatchRows, ofOthers: [] },
    { rows: 2, parents: 2, ofOthers: [] },
  ]);
});

it('what another worker does meanwhile is left to it', async () => {
  const line = openHarness();
  const { orgId } = await world.org();
  const ids = await enqueueMany(line, orgId, 3);
  const holder = await world.database.owner.connect();
  try {
    await holder.query('begin');
    await holder.query('select from outbox where org_id = $1 and id = $2 for update', [orgId, ids[1]]);
    line.startWorkers({ [topic]: recordEffect });
    await line.runRelayTurn();
    await waitUntil(() => line.ends.length === 1);
    expect(idsOf(await effects(orgId))).toEqual([ids[0], ids[2]]);
    await holder.query('rollback');
  } finally {
    holder.release(true);
  }
  await line.makeRowsDue();
  await line.runRelayTurn();
  await waitUntil(() => areAllDone(line, orgId));
  expect(idsOf(await effects(orgId))).toEqual(ids);
});

it('is nothing any more once the organization is deleted', async () => {
  const line = openHarness();
  const { orgId } = await world.org();
  await enqueueMany(line, orgId, 3);
  await world.rows('update orgs set deleted_at = now() where id = $1', orgId);
  line.startWorkers({ [topic]: recordEffect });
  await line.runRelayTurn();
  await waitUntil(() => areAllDone(line, orgId));
  expect({ effects: await effects(orgId), ends: line.ends }).toEqual({
    effects: [],
    ends: [{ name: topic, outcome: 'skipped' }],
  });
});
