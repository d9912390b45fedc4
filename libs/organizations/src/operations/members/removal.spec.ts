import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PeopleOf, useWorld } from '@muster/testing';
import {
  arrangeAssignment,
  arrangeComment,
  arrangeProject,
  arrangeProjectMember,
  arrangeReview,
  arrangeStory,
} from '../../../test/work.ts';
import { organizationsHandlers } from '../../index.ts';

const world = useWorld(organizationsHandlers);

const eventsOf = async (orgId: string) =>
  (await world.rows<{ kind: string }>('select kind from activity where org_id = $1 order by seq', orgId)).map(
    ({ kind }) => kind,
  );

/** Creates one record of each kind for Chloé and her agent, and for Ben, who stays. */
async function arrangeHoldings({ orgId, ana, ben, chloe, robo }: PeopleOf<typeof world>) {
  const web = await arrangeProject(world, orgId, 'WEB');
  const stories: string[] = [];
  for (let n = 0; n < 4; n += 1) stories.push(await arrangeStory(world, orgId, web));
  const [first = '', second = '', third = '', fourth = ''] = stories;
  const bens = await world.token(orgId, ben.me.memberId, { agent: 'Bert' });
  await arrangeAssignment(world, orgId, first, { memberId: chloe.me.memberId, agentId: robo.me.agentId });
  await arrangeAssignment(world, orgId, second, { memberId: ben.me.memberId, agentId: robo.me.agentId });
  await arrangeAssignment(world, orgId, third, { memberId: chloe.me.memberId, agentId: bens.me.agentId });
  await arrangeAssignment(world, orgId, fourth, { memberId: ben.me.memberId, agentId: bens.me.agentId });
  const { team } = await ana.teams.create({ name: 'Web' });
  for (const person of [ben, chloe]) {
    await ana.teams.members.add({ teamId: team.id, memberId: person.me.memberId, role: 'lead' });
    await arrangeProjectMember(world, orgId, web, person, 'contributor');
    await arrangeReview(world, orgId, first, person);
    await arrangeReview(world, orgId, second, person, 'approved');
    await arrangeComment(world, orgId, first, person);
    await person.devices.register({ deviceId: 'd', name: 'D', platform: 'web' });
    await world.rows(
      'insert into story_selections (org_id, member_id, story_id) values ($1, $2, $3)',
      orgId,
      person.me.memberId,
      first,
    );
    await world.rows(
      `insert into access_requests (org_id, id, project_id, member_id, role) values ($1, $2, $3, $4, 'lead')`,
      orgId,
      newId(),
      web,
      person.me.memberId,
    );
  }
  await arrangeReview(world, orgId, first, robo);
  await arrangeReview(world, orgId, second, robo, 'approved');
  return { stories };
}

/** Returns the remaining records, by table and name. */
const listRemainingHoldings = async (orgId: string): Promise<string[]> => {
  const rows = await world.rows<{ held: string }>(
    `select 'assignment ' || s.number || ' ' || coalesce(m.name, '-') || ' ' || coalesce(g.name, '-') as held
       from assignments a join stories s on s.org_id = a.org_id and s.id = a.target_id
       left join members m on m.org_id = a.org_id and m.id = a.member_id
       left join agents g on g.org_id = a.org_id and g.id = a.agent_id where a.org_id = $1
     union all select 'review ' || r.verdict || ' ' || coalesce(m.name, g.name)
       from story_reviewers r left join members m on m.org_id = r.org_id and m.id = r.member_id
       left join agents g on g.org_id = r.org_id and g.id = r.agent_id where r.org_id = $1
     union all select t.kind || ' ' || m.name
       from (select 'team' as kind, org_id, member_id from team_members
         union all select 'project', org_id, member_id from project_members
         union all select 'selection', org_id, member_id from story_selections
         union all select 'device', org_id, member_id from devices
         union all select 'request', org_id, member_id from access_requests
         union all select 'comment', org_id, author_member_id from comments) t
       join members m on m.org_id = t.org_id and m.id = t.member_id where t.org_id = $1`,
    orgId,
  );
  return rows.map(({ held }) => held).sort();
};

const bensAlone = ['comment Ben', 'device Ben', 'project Ben', 'request Ben', 'selection Ben', 'team Ben'];

describe.each(['members.removeMember', 'members.leave'] as const)('%s', (way) => {
  const goes = ({ ben, chloe }: PeopleOf<typeof world>) =>
    way === 'members.leave'
      ? chloe.members.leave({})
      : ben.members.removeMember({ memberId: chloe.me.memberId });

  it('ends all that the member and their agents hold, at once, and nothing of anybody else', async () => {
    const people = await world.org();
    const { orgId, ana, chloe, robo } = people;
    await arrangeHoldings(people);
    const second = await world.token(orgId, chloe.me.memberId);
    expect(await goes(people)).toEqual({ deleted: true });
    for (const person of [chloe, second, robo]) {
      await expect(person.session.identity()).rejects.toMatchObject({ status: 401 });
    }
    const tokens = await world.rows(
      'select from tokens where org_id = $1 and member_id = $2 and revoked_at is null',
      orgId,
      chloe.me.memberId,
    );
    expect(tokens).toEqual([]);
    const acting = await world.rows<{ name: string }>(
      'select name from agents where org_id = $1 and retired_at is null',
      orgId,
    );
    expect(acting).toEqual([{ name: 'Bert' }]);
    expect(await listRemainingHoldings(orgId)).toEqual(
      [
        ...bensAlone,
        // If one of two assignees is removed, the other one stays.
        'assignment 2 Ben -',
        'assignment 3 - Bert',
        'assignment 4 Ben Bert',
        // The comments and verdicts of removed members and agents stay.
        'comment Chloé',
        'review approved Ben',
        'review approved Chloé',
        'review approved Robo',
        'review pending Ben',
      ].sort(),
    );
    const [kind] = (await eventsOf(orgId)).slice(-1);
    expect(kind).toBe(way === 'members.leave' ? 'member.departed' : 'member.removed');
    expect((await ana.session.identity()).entitlement.usage.seats).toBe(2);
  });

  it('ends the assignments of a member without agents, too', async () => {
    const people = await world.org();
    const { orgId, ben, chloe } = people;
    await world.rows('delete from agents where org_id = $1', orgId);
    const web = await arrangeProject(world, orgId, 'WEB');
    for (const { me } of [chloe, ben])
      await arrangeAssignment(world, orgId, await arrangeStory(world, orgId, web), { memberId: me.memberId });
    expect(await goes(people)).toEqual({ deleted: true });
    expect(await listRemainingHoldings(orgId)).toEqual(['assignment 2 Ben -']);
  });

  it('ends the invitations they sent: whoever was let go lets nobody in', async () => {
    const people = await world.org();
    const { orgId, ana, chloe } = people;
    await world.rows(
      `update members set role = 'admin' where org_id = $1 and id = $2`,
      orgId,
      chloe.me.memberId,
    );
    const { invitation: theirs } = await chloe.members.invite({ email: 'noor@example.com' });
    const { invitation: others } = await ana.members.invite({ email: 'elif@example.com' });
    if (way === 'members.leave') await chloe.members.leave({});
    else await ana.members.removeMember({ memberId: chloe.me.memberId });
    const { items } = await ana.invitations.list();
    expect(items.map(({ id, state }) => [id, state])).toEqual([
      [others.id, 'pending'],
      [theirs.id, 'revoked'],
    ]);
  });

  it('lets nobody in by an invitation that they were about to send', async () => {
    const people = await world.org();
    const { orgId, ana, chloe } = people;
    await world.rows(
      `update members set role = 'admin' where org_id = $1 and id = $2`,
      orgId,
      chloe.me.memberId,
    );
    const [invited] = await world.runUnderContention<unknown>(
      { table: 'subscriptions', id: orgId, column: 'org_id' },
      () => chloe.members.invite({ email: 'noor@example.com' }),
      async () => {
        await world.waitUntilBlocked(1);
        if (way === 'members.leave') await chloe.members.leave({});
        else await ana.members.removeMember({ memberId: chloe.me.memberId });
        // world.contend releases the row of subscriptions only when both calls wait for it. This statement
        // makes the second call wait.
        await world.rows('select from subscriptions where org_id = $1 for update', orgId);
      },
    );
    expect(invited).toMatchObject({ status: 'rejected', reason: { status: 401 } });
    expect((await ana.invitations.list()).items).toEqual([]);
  });

  it('leaves no second time', async () => {
    const people = await world.org();
    await goes(people);
    await expect(goes(people)).rejects.toMatchObject({ status: way === 'members.leave' ? 401 : 404 });
    expect(await eventsOf(people.orgId)).toHaveLength(1);
  });

  it('twice at once happens once', async () => {
    const people = await world.org();
    const { orgId, chloe } = people;
    const outcomes = await world.runUnderContention<unknown>(
      { table: 'members', id: chloe.me.memberId },
      () => goes(people),
      () => goes(people),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await eventsOf(orgId)).toHaveLength(1);
  });

  it('is not for the owner', async () => {
    const { ana, ben } = await world.org();
    const wishes =
      way === 'members.leave'
        ? [() => ana.members.leave({})]
        : [ana, ben].map((by) => () => by.members.removeMember({ memberId: ana.me.memberId }));
    for (const call of wishes) {
      await expect(call()).rejects.toMatchObject({ status: 422, reason: 'owner_required' });
    }
    expect((await ana.session.identity()).member.status).toBe('active');
  });
});

describe('members.leave', () => {
  it('is no agent’s to do for its member', async () => {
    const { chloe, robo } = await world.org();
    await expect(robo.members.leave({})).rejects.toMatchObject({ status: 403, reason: 'agents_may_not' });
    expect((await chloe.session.identity()).member.status).toBe('active');
  });
});

describe('members.removeMember', () => {
  it('lets only the owner remove an admin, and admins anybody else', async () => {
    const { orgId, ana, ben, chloe, dan } = await world.org();
    const remove = (by: typeof ana, { me }: typeof ana) => by.members.removeMember({ memberId: me.memberId });
    const eve = await world.member(orgId, 'Eve', 'admin');
    for (const [by, whom] of [
      [ben, eve],
      [ben, ben],
      [chloe, dan],
      [dan, chloe],
    ] as const) {
      await expect(remove(by, whom)).rejects.toMatchObject({ status: 403, reason: 'role' });
    }
    for (const whom of [chloe, dan]) await remove(ben, whom);
    for (const whom of [ben, eve]) await remove(ana, whom);
    const { items } = await ana.members.list();
    expect(items.map(({ name }) => name)).toEqual(['Ana']);
    const denials = await world.rows(
      `select from audit where org_id = $1 and operation = 'members.removeMember' and outcome = 'denied'`,
      orgId,
    );
    expect(denials).toHaveLength(4);
  });

  it('knows nobody of another organization', async () => {
    const { ana } = await world.org();
    const { chloe } = await world.org();
    for (const memberId of [chloe.me.memberId, newId()]) {
      await expect(ana.members.removeMember({ memberId })).rejects.toMatchObject({ status: 404 });
    }
    await chloe.session.identity();
  });

  it('races with what would give the member something, and leaves nothing of it', async () => {
    const people = await world.org();
    const { orgId, ana, ben, chloe } = people;
    const { team } = await ana.teams.create({ name: 'Web' });
    const { memberId } = chloe.me;
    for (const first of ['removal', 'gift'] as const) {
      const calls: (() => Promise<unknown>)[] = [
        () => ana.members.removeMember({ memberId }),
        () => ben.teams.members.add({ teamId: team.id, memberId }),
      ];
      if (first === 'gift') calls.reverse();
      const outcomes = await world.runUnderContention({ table: 'members', id: memberId }, ...calls);
      const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
      for (const { reason } of lost) expect(reason).toMatchObject({ status: 404 });
      const left = await world.rows('select from team_members where org_id = $1', orgId);
      expect(left).toEqual([]);
      await world.rows(`update members set status = 'active' where org_id = $1 and id = $2`, orgId, memberId);
    }
  });

  it('of two people who share assignments, at once, does not get stuck', async () => {
    const people = await world.org();
    const { orgId, ana, ben, chloe } = people;
    const { stories } = await arrangeHoldings(people);
    const outcomes = await world.runUnderContention(
      { table: 'assignments', column: 'target_id', id: stories },
      () => ana.members.removeMember({ memberId: chloe.me.memberId }),
      () => ana.members.removeMember({ memberId: ben.me.memberId }),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    const left = await listRemainingHoldings(orgId);
    expect(left.filter((held) => !/^(comment|review approved)/.test(held))).toEqual([]);
  });

  it('lets who was removed be invited again, as somebody new', async () => {
    const { ana, chloe } = await world.org();
    await ana.members.removeMember({ memberId: chloe.me.memberId });
    const { invitation } = await ana.members.invite({ email: 'CHLOE@example.com', role: 'member' });
    expect(invitation.state).toBe('pending');
  });
});
