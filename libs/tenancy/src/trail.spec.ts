import { describe, expect, it } from '@jest/globals';
import { bindStatement, newId, sql } from '@muster/driver';
import { type Actor, type Subject } from '@muster/contract';
import { type People, useWorld } from '@muster/testing';
import { inOperatorTransaction } from './operator.ts';
import { type AuditFacts, type DomainEvent, operatorTrailStatement, trailStatement } from './trail.ts';

const world = useWorld({});

const actorOf = ({ chloe }: People): Actor => ({
  kind: 'member',
  memberId: chloe.me.memberId,
  agentId: null,
  name: 'Chloé',
});
const auditFactsFor = (target: string): AuditFacts => ({
  operation: 'stories.create',
  target,
  tokenId: null,
  ip: '127.0.0.1',
  userAgent: 'spec',
  requestId: newId(),
});
const story = (title: string): Subject => ({
  type: 'story',
  id: newId(),
  key: 'WEB-1',
  title,
  projectId: newId(),
});
const domainEvents = (label: string, count: number): DomainEvent[] =>
  Array.from({ length: count }, (_, index) => ({
    kind: 'story.updated',
    subject: story(`${label}.${index}`),
    data: { fields: [] },
  }));

/** Commits a write. An application session would do the same; the owner's connection needs no token. */
async function commit(
  people: People,
  label: string,
  count: number,
  outcome: 'kept' | 'lost' = 'kept',
): Promise<void> {
  const client = await world.database.owner.connect();
  try {
    const left = trailStatement(actorOf(people), auditFactsFor(label), {
      allowed: true,
      domainEvents: domainEvents(label, count),
    });
    const statement = bindStatement(left, people.orgId);
    await client.query('begin');
    await client.query(statement.sql, [...statement.parameters]);
    await client.query(outcome === 'kept' ? 'commit' : 'rollback');
  } finally {
    client.release();
  }
}

describe('the trail', () => {
  it('writes audit, activity and outbox in one statement, under the numbers of the organization', async () => {
    const people = await world.org();
    await commit(people, 'a', 2);
    await commit(people, 'b', 0);
    await commit(people, 'c', 1);
    expect(
      await world.rows(
        'select seq, target, outcome, member_id, operation from audit where org_id = $1 order by seq',
        people.orgId,
      ),
    ).toEqual(
      ['a', 'b', 'c'].map((target, index) => ({
        seq: index + 1,
        target,
        outcome: 'allowed',
        member_id: people.chloe.me.memberId,
        operation: 'stories.create',
      })),
    );
    const activity = await world.rows<{ seq: number; title: string; actor: unknown; story: boolean }>(
      `select seq, subject ->> 'title' as title, actor, story_id is not null as story from activity where org_id = $1 order by seq`,
      people.orgId,
    );
    expect(activity).toEqual(
      ['a.0', 'a.1', 'c.0'].map((title, index) => ({
        seq: index + 1,
        title,
        actor: actorOf(people),
        story: true,
      })),
    );
    expect(
      await world.rows('select topic, payload from outbox where org_id = $1 order by id', people.orgId),
    ).toEqual(
      [1, 2, 3].map((activitySeq) => ({ topic: 'event', payload: { activitySeq, kind: 'story.updated' } })),
    );
    expect(await world.rows('select activity, audit from streams where org_id = $1', people.orgId)).toEqual([
      { activity: 3, audit: 3 },
    ]);
  });

  it('counts each organization by itself', async () => {
    const [people, others] = await Promise.all([world.org(), world.org()]);
    await commit(people, 'a', 1);
    await commit(others, 'b', 1);
    expect(
      await world.rows('select seq from activity where org_id = any ($1)', [people.orgId, others.orgId]),
    ).toEqual([{ seq: 1 }, { seq: 1 }]);
  });

  it('leaves a refusal with its reason, and nothing in the activity', async () => {
    const people = await world.org();
    const left = trailStatement(actorOf(people), auditFactsFor('x'), { allowed: false, reason: 'role' });
    const statement = bindStatement(left, people.orgId);
    await world.rows(statement.sql, ...statement.parameters);
    expect(
      await world.rows('select seq, outcome, reason from audit where org_id = $1', people.orgId),
    ).toEqual([{ seq: 1, outcome: 'denied', reason: 'role' }]);
    expect(await world.rows('select seq from activity where org_id = $1', people.orgId)).toEqual([]);
  });

  it('has no gaps and follows the order of commits, so that a follower misses nothing: many at once, some undone', async () => {
    const people = await world.org();
    let writing = true;
    const writers = Array.from({ length: 6 }, async (_, writer) => {
      for (let round = 0; round < 15; round += 1) {
        await commit(people, `${writer}-${round}`, (writer + round) % 4, round % 5 === 4 ? 'lost' : 'kept');
      }
    });
    const followed: { seq: number; title: string }[] = [];
    const follow = async (): Promise<void> => {
      for (;;) {
        const last = !writing;
        followed.push(
          ...(await world.rows<{ seq: number; title: string }>(
            `select seq, subject ->> 'title' as title from activity where org_id = $1 and seq > $2 order by seq`,
            people.orgId,
            followed.at(-1)?.seq ?? 0,
          )),
        );
        if (last) return;
      }
    };
    const follower = follow();
    await Promise.all(writers);
    writing = false;
    await follower;

    const [streams] = await world.rows<{ activity: number; audit: number }>(
      'select activity, audit from streams where org_id = $1',
      people.orgId,
    );
    const audit = await world.rows<{ seq: number }>(
      'select seq from audit where org_id = $1 order by seq',
      people.orgId,
    );
    expect(audit.map(({ seq }) => seq)).toEqual(Array.from({ length: 6 * 12 }, (_, index) => index + 1));
    expect(streams).toEqual({ audit: 6 * 12, activity: followed.length });
    expect(followed.map(({ seq }) => seq)).toEqual(
      Array.from({ length: followed.length }, (_, index) => index + 1),
    );
    // The trail entries grouped by transaction. Events of one transaction are consecutive.
    const groups = followed.map(({ title }) => title.split('.')[0]);
    expect(groups.filter((group, index) => group !== groups[index - 1])).toEqual([...new Set(groups)]);
  });
});

describe('asOperator', () => {
  it('keeps all or nothing', async () => {
    const people = await world.org();
    const failing = inOperatorTransaction(world.database.owner, async (_db, within) => {
      await within(people.orgId).all(operatorTrailStatement('operators.try', 'x'));
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await inOperatorTransaction(world.database.owner, async (_db, within) =>
      within(people.orgId).deferToCommit(operatorTrailStatement('operators.try', 'y')),
    );
    expect(await world.rows('select seq, target, actor from audit where org_id = $1', people.orgId)).toEqual([
      { seq: 1, target: 'y', actor: { kind: 'system', memberId: null, agentId: null, name: 'operator' } },
    ]);
  });

  it('runs nothing outside its transaction, also after a first statement that could not be sent', async () => {
    const people = await world.org();
    const unsendable = {
      toJSON: () => {
        throw new Error('no');
      },
    };
    const failing = inOperatorTransaction(world.database.owner, async (db, within) => {
      await db.all(sql`select ${unsendable}`).catch(() => undefined);
      await within(people.orgId).all(operatorTrailStatement('operators.try', 'x'));
      throw new Error('after all');
    });
    await expect(failing).rejects.toThrow('after all');
    expect(await world.rows('select seq from audit where org_id = $1', people.orgId)).toEqual([]);
  });

  it('never acknowledges a transaction that was aborted', async () => {
    const outcome = inOperatorTransaction(world.database.owner, async (db) => {
      await db.all(sql`select 1 / 0`).catch(() => undefined);
    });
    await expect(outcome).rejects.toThrow();
  });
});
