/**
 * Tests that every expired lease is recorded once, with any number of sweeps and interruptions. The holder of
 * the lease loses none of its work through the recording.
 */
import { describe, expect, it } from '@jest/globals';
import { deliveryHandlers } from '@muster/delivery';
import { newId } from '@muster/driver';
import { notificationReaction, notificationsHandlers } from '@muster/notifications';
import { workerActor } from '@muster/tenancy';
import { useWorld } from '@muster/testing';
import { arrangeBoard, type WorkerBoard } from './board.ts';
import { endsIn } from './ends.ts';
import { maxSweepDelayMillis, minSweepDelayMillis } from '../src/sweep.ts';

const world = useWorld({ ...deliveryHandlers, ...notificationsHandlers }, [notificationReaction]);
const { acquire, timePasses, sweepOnce, expiries, told } = endsIn(world);

describe('an expiry', () => {
  it('is an event of the execution and of the project, in the numbers of both', async () => {
    const { people, storyIds, projectId } = await arrangeBoard(world);
    const { executionId } = await acquire(people.robo);
    await sweepOnce();
    expect(await expiries(people.orgId)).toEqual([]);
    await timePasses(people.orgId);
    await sweepOnce();
    const { items, lastSeq } = await people.dan.deliveryExecutions.eventsSince({ executionId });
    expect(items.map(({ seq, kind, actor }) => [seq, kind, actor.name])).toEqual([
      [1, 'acquired', 'Robo'],
      [2, 'expired', 'worker'],
    ]);
    expect(items[1]).toMatchObject({
      actor: workerActor,
      data: { epoch: 1, holder: { name: 'Robo' }, expiredAt: expect.stringMatching(/Z$/) },
    });
    const { execution } = await people.dan.deliveryExecutions.get({ executionId });
    expect(execution).toMatchObject({ state: 'stalled', lastEventSeq: lastSeq, lease: { epoch: 1 } });

    const activity = await people.dan.activity.list({ projectId });
    expect(activity.items[0]).toMatchObject({
      kind: 'lease.expired',
      actor: workerActor,
      subject: { type: 'story', id: storyIds[0], key: 'WEB-1', title: 'Passkeys' },
      data: { unitType: 'story', executionId, epoch: 1, agentId: people.robo.me.agentId, holderName: 'Robo' },
    });
    expect(
      await world.rows(
        `select payload ->> 'activitySeq' as seq from outbox
         where org_id = $1 and topic = 'event' and payload ->> 'kind' = 'lease.expired'`,
        people.orgId,
      ),
    ).toEqual([{ seq: '2' }]);
    expect(
      await world.rows(
        `select actor, outcome, target from audit where org_id = $1 and operation = 'worker.noteExpiries'`,
        people.orgId,
      ),
    ).toEqual([{ actor: workerActor, outcome: 'allowed', target: null }]);
  });

  it('takes nothing from its holder, who goes on, and whose next expiry is another', async () => {
    const { people } = await arrangeBoard(world);
    const held = await acquire(people.chloe);
    const lease = () =>
      world.rows<object>(
        `select l.state, l.epoch, l.token_hash, l.holder, l.expires_at, e.state as stored
         from leases l join executions e on e.org_id = l.org_id and e.target_id = l.unit_id where l.org_id = $1`,
        people.orgId,
      );
    await timePasses(people.orgId);
    const before = await lease();
    await sweepOnce();
    await sweepOnce();
    expect(await expiries(people.orgId)).toHaveLength(1);
    expect(await lease()).toEqual(before);

    const { execution, signals } = await people.chloe.deliveryExecutions.renew(held);
    expect([execution.state, signals]).toEqual(['leased', []]);
    await sweepOnce();
    expect(await expiries(people.orgId)).toHaveLength(1);
    await timePasses(people.orgId);
    await sweepOnce();
    expect((await expiries(people.orgId)).map(({ seq }) => seq)).toEqual([2, 3]);
  });

  it('is none where the holder renews while the sweep is at it', async () => {
    const { people, storyIds } = await arrangeBoard(world, 2);
    await acquire(people.chloe, 1);
    await acquire(people.chloe, 2);
    await timePasses(people.orgId);
    const holder = await world.database.owner.connect();
    try {
      await holder.query('begin');
      await holder.query(
        `update leases set expires_at = now() + interval '1 hour' where org_id = $1 and unit_id = $2`,
        [people.orgId, storyIds[0]],
      );
      // The expiry of the other lease is recorded without waiting for the lease whose row is locked.
      await sweepOnce();
      await holder.query('commit');
    } finally {
      holder.release();
    }
    await sweepOnce();
    expect(
      await world.rows(
        `select e.target_id from execution_events v join executions e on e.org_id = v.org_id and e.id = v.execution_id
         where v.org_id = $1 and v.kind = 'expired'`,
        people.orgId,
      ),
    ).toEqual([{ target_id: storyIds[1] }]);
  });

  it('is none where the holder renews after the sweep has found it', async () => {
    const [first, second] = [await arrangeBoard(world), await arrangeBoard(world)];
    await acquire(first.people.robo);
    const held = await acquire(second.people.chloe);
    for (const { people } of [first, second]) await timePasses(people.orgId);
    // The sweep processes the earliest expiry first.
    await world.rows(
      `update leases set expires_at = expires_at - interval '1 second' where org_id = $1`,
      first.people.orgId,
    );
    const inTheWay = await world.database.owner.connect();
    try {
      await inTheWay.query('begin');
      await inTheWay.query('select from streams where org_id = $1 for update', [first.people.orgId]);
      // The sweep has found both leases and waits for the lock on the first organization's row in `streams`.
      const sweeping = sweepOnce();
      await world.waitUntilBlocked(1);
      await second.people.chloe.deliveryExecutions.renew(held);
      await inTheWay.query('commit');
      await sweeping;
    } finally {
      inTheWay.release();
    }
    expect(await expiries(first.people.orgId)).toHaveLength(1);
    expect(await expiries(second.people.orgId)).toEqual([]);
  });

  it('is looked for at the end of the grant, and where it was renewed again at its new end', async () => {
    const { people } = await arrangeBoard(world);
    const { orgId, chloe } = people;
    const held = await acquire(chloe);
    const times = async () => {
      const [lease] = await world.rows<{ due_at: string; expires_at: string }>(
        `select due_at, expires_at from leases where org_id = $1 and state = 'held'`,
        orgId,
      );
      return lease;
    };
    const granted = await times();
    expect(granted?.due_at).toBe(granted?.expires_at);
    await chloe.deliveryExecutions.renew({ ...held, ttlSeconds: 3_600 });
    expect(await times()).toEqual({
      due_at: granted?.due_at,
      expires_at: expect.not.stringMatching(String(granted?.expires_at)),
    });
    await world.rows(`update leases set due_at = now() - interval '1 second' where org_id = $1`, orgId);
    await sweepOnce();
    const later = await times();
    expect(later?.due_at).toBe(later?.expires_at);
    expect(await expiries(orgId)).toEqual([]);
    await chloe.deliveryExecutions.renew({ ...held, ttlSeconds: 60 });
    const sooner = await times();
    expect(sooner?.due_at).toBe(sooner?.expires_at);
    await timePasses(orgId);
    await sweepOnce();
    expect(await expiries(orgId)).toHaveLength(1);
  });

  it('of a coordination of a group has no execution, and is told all the same', async () => {
    const { people, projectId } = await arrangeBoard(world);
    const { orgId, chloe } = people;
    const groupId = newId();
    await world.rows(
      `insert into delivery_groups (org_id, id, project_id, name, merge_strategy) values ($1, $2, $3, 'Login', 'per_story')`,
      orgId,
      groupId,
      projectId,
    );
    await world.rows(
      `insert into leases (org_id, unit_type, unit_id, project_id, state, epoch, token_hash, holder, member_id, ttl_seconds, expires_at)
       values ($1, 'coordination', $2, $3, 'held', 4, sha256('x'), $4, $5, 60, now() - interval '1 second')`,
      orgId,
      groupId,
      projectId,
      { kind: 'member', memberId: chloe.me.memberId, agentId: null, name: 'Chloé' },
      chloe.me.memberId,
    );
    await sweepOnce();
    expect((await people.dan.activity.list({ projectId })).items).toMatchObject([
      {
        kind: 'lease.expired',
        subject: { type: 'delivery_group', id: groupId, key: null, title: 'Login' },
        data: { unitType: 'coordination', executionId: null, epoch: 4 },
      },
    ]);
    expect(await told(orgId)).toEqual([
      {
        name: 'Chloé',
        kind: 'lease_expired',
        title: 'Your lease on Login has expired; others can take over the work',
      },
    ]);
  });
});
describe('sweeps', () => {
  const storiesEach = 120;

  async function arrangeMany(): Promise<WorkerBoard[]> {
    const boards = await Promise.all([arrangeBoard(world, storiesEach), arrangeBoard(world, storiesEach)]);
    for (const { people } of boards) {
      for (let story = 1; story <= storiesEach; story += 1) await acquire(people.robo, story);
      await timePasses(people.orgId);
    }
    return boards;
  }

  it('share the work: each expiry is noted by one of them', async () => {
    const boards = await arrangeMany();
    await Promise.all([sweepOnce(), sweepOnce(), sweepOnce(), sweepOnce()]);
    // A sweep stops if all leases that it found are locked by other sweeps, so one more sweep records the
    // remaining expiries.
    await sweepOnce();
    for (const { people } of boards) {
      const noted = await expiries(people.orgId);
      expect(noted.map(({ seq }) => seq)).toEqual(Array.from({ length: storiesEach }, () => 2));
      expect(new Set(noted.map((row) => row.execution_id)).size).toBe(storiesEach);
      expect(await told(people.orgId)).toHaveLength(storiesEach);
      const numbers = await world.rows<{ seq: number }>(
        'select seq from activity where org_id = $1 order by seq',
        people.orgId,
      );
      expect(numbers.map(({ seq }) => seq)).toEqual(
        Array.from({ length: 2 * storiesEach }, (_, index) => index + 1),
      );
    }
  });

  it('would double them where what was found is not looked at again under its lock: this spec can tell', async () => {
    const { people } = await arrangeBoard(world);
    const { executionId } = await acquire(people.robo);
    await timePasses(people.orgId);
    const look = () =>
      world.rows<{ unit_id: string }>(
        `select unit_id from leases where org_id = $1 and not expiry_noted and expires_at <= now()`,
        people.orgId,
      );
    // Both sweeps read before either writes.
    for (const due of await Promise.all([look(), look()])) {
      for (const { unit_id } of due) {
        await world.rows(
          `with noted as (update leases set expiry_noted = true where org_id = $1 and unit_id = $2),
           counted as (update executions set last_event_seq = last_event_seq + 1 where org_id = $1 and id = $3 returning last_event_seq)
           insert into execution_events (org_id, execution_id, seq, kind, actor) select $1, $3, last_event_seq, 'expired', '{}' from counted`,
          people.orgId,
          unit_id,
          executionId,
        );
      }
    }
    expect(await expiries(people.orgId)).toHaveLength(2);
  });

  it('leave nothing behind when they die in the middle, and the next does all of it', async () => {
    const { people } = await arrangeBoard(world, 3);
    for (const story of [1, 2, 3]) await acquire(people.robo, story);
    await timePasses(people.orgId);
    const inTheWay = await world.database.owner.connect();
    try {
      await inTheWay.query('begin');
      // The last statement of the sweep's transaction waits for the row that this statement locks.
      await inTheWay.query('select from streams where org_id = $1 for update', [people.orgId]);
      const dying = sweepOnce();
      const died = expect(dying).rejects.toThrow();
      await world.waitUntilBlocked(1);
      await world.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      await died;
      await inTheWay.query('rollback');
    } finally {
      inTheWay.release();
    }
    expect(await expiries(people.orgId)).toEqual([]);
    expect(await told(people.orgId)).toEqual([]);
    await sweepOnce();
    expect(await expiries(people.orgId)).toHaveLength(3);
    expect(await told(people.orgId)).toHaveLength(3);
  });

  it('go on with the others where one organization fails', async () => {
    const [broken, sound] = [await arrangeBoard(world), await arrangeBoard(world)];
    for (const { people } of [broken, sound]) {
      await acquire(people.robo);
      await timePasses(people.orgId);
    }
    await world.rows(
      `alter table execution_events add constraint broken check (org_id <> '${broken.people.orgId}') not valid`,
    );
    await expect(sweepOnce()).rejects.toMatchObject({
      errors: [{ message: expect.stringContaining('broken') }],
    });
    expect(await expiries(sound.people.orgId)).toHaveLength(1);
    expect(await expiries(broken.people.orgId)).toEqual([]);
    await world.rows('alter table execution_events drop constraint broken');
    await sweepOnce();
    expect(await expiries(broken.people.orgId)).toHaveLength(1);
  });

  it('know when the next one is due', async () => {
    expect(await sweepOnce()).toBe(maxSweepDelayMillis);
    const { people } = await arrangeBoard(world, 2);
    await acquire(people.robo, 1);
    expect(await sweepOnce()).toBe(maxSweepDelayMillis);
    const { executionId, leaseToken } = await acquire(people.chloe, 2);
    await people.chloe.deliveryExecutions.renew({ executionId, leaseToken, ttlSeconds: 5 });
    const millis = await sweepOnce();
    expect(millis).toBeLessThanOrEqual(5_000);
    expect(millis).toBeGreaterThanOrEqual(minSweepDelayMillis);
    const [lease] = await world.rows<{ millis: number }>(
      `select (extract(epoch from expires_at - clock_timestamp()) * 1000)::float as millis from leases
       where org_id = $1 and member_id = $2 and agent_id is null`,
      people.orgId,
      people.chloe.me.memberId,
    );
    expect(millis).toBeGreaterThanOrEqual(Math.min(lease?.millis ?? 0, maxSweepDelayMillis));
    await timePasses(people.orgId);
    await sweepOnce();
    expect(await sweepOnce()).toBe(maxSweepDelayMillis);
  });
});
