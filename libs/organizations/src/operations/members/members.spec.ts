import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { organizationsRegistry } from '@muster/organizations-registry';
import { type PersonOf, useWorld } from '@muster/testing';
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

describe('what a profile counts', () => {
  it('is in projects that the caller sees: a number would say what goes on in the others', async () => {
    const { orgId, ana, chloe, dan } = await world.org();
    const hidden = await arrangeProject(world, orgId, 'HID', { visibility: 'private' });
    await arrangeProjectMember(world, orgId, hidden, chloe, 'contributor');
    const story = await arrangeStory(world, orgId, hidden);
    const { memberId } = chloe.me;
    await arrangeAssignment(world, orgId, story, { memberId });
    await arrangeReview(world, orgId, story, chloe, 'approved');
    await arrangeComment(world, orgId, story, chloe);
    await world.rows(
      `insert into leases (org_id, unit_type, unit_id, project_id, epoch, state, token_hash, holder, member_id, expires_at)
       values ($1, 'story', $2, $3, 1, 'held', sha256('x'), '{}', $4, now() + interval '1 hour')`,
      orgId,
      story,
      hidden,
      memberId,
    );
    const stats = async (who: typeof ana) => Object.values((await who.members.profile({ memberId })).stats);
    for (const who of [ana, chloe]) expect(await stats(who)).toEqual([1, 1, 1, 1]);
    expect(await stats(dan)).toEqual([0, 0, 0, 0]);
    const bound = await world.token(orgId, chloe.me.memberId, { projectIds: [] });
    expect(await stats(bound)).toEqual([0, 0, 0, 0]);
  });
});

describe('members.list', () => {
  it('shows the active members by name; those who were removed only when asked for', async () => {
    const { ana, ben, dan } = await world.org();
    await ana.members.removeMember({ memberId: ben.me.memberId });
    const answer = await dan.members.list();
    expect(organizationsRegistry.members.list.result.parse(answer)).toEqual(answer);
    expect(answer.items.map(({ name }) => name)).toEqual(['Ana', 'Chloé', 'Dan']);
    const { items } = await dan.members.list({ status: 'removed' });
    expect(items).toMatchObject([{ name: 'Ben', role: 'admin', status: 'removed', version: 2 }]);
  });

  it('filters by role, and finds a part of name, handle or e-mail, literally and in any case', async () => {
    const { orgId, ana } = await world.org();
    await world.member(orgId, '100% Eve', 'viewer');
    const found = async (params: Parameters<typeof ana.members.list>[0]) =>
      (await ana.members.list(params)).items.map(({ name }) => name);
    expect(await found({ role: 'viewer' })).toEqual(['100% Eve', 'Dan']);
    expect(await found({ role: 'owner' })).toEqual(['Ana']);
    expect(await found({ query: 'CHLO' })).toEqual(['Chloé']);
    expect(await found({ query: 'chloe' })).toEqual(['Chloé']);
    expect(await found({ query: 'dan@EXAMPLE' })).toEqual(['Dan']);
    expect(await found({ query: '%' })).toEqual(['100% Eve']);
    expect(await found({ query: '_' })).toEqual([]);
    expect(await found({ query: 'ana', role: 'viewer' })).toEqual([]);
  });

  it('pages by name, and nobody is shown twice or left out while members come', async () => {
    const { orgId, ana } = await world.org();
    await world.rows(
      `insert into members (org_id, id, email, name, handle, role)
       select $1, gen_random_uuid(), 'b' || n || '@example.com', 'Bob', 'bob-' || n, 'viewer' from generate_series(1, 5) n`,
      orgId,
    );
    const names: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { items: { id: string; name: string }[]; nextCursor: string | null } =
        await ana.members.list({ limit: 2, ...(cursor !== '' && { cursor }) });
      names.push(...page.items.map(({ name }) => name));
      if (cursor === '') await world.member(orgId, 'Aaron', 'viewer');
      cursor = page.nextCursor;
    }
    expect(names).toEqual(['Ana', 'Ben', 'Bob', 'Bob', 'Bob', 'Bob', 'Bob', 'Chloé', 'Dan']);
    for (const bad of ['bm9uZQ', Buffer.from('["A","x"]').toString('base64url')]) {
      await expect(ana.members.list({ cursor: bad })).rejects.toMatchObject({ status: 400 });
    }
  });

  it('shows nobody of another organization', async () => {
    const { dan } = await world.org();
    const { orgId } = await world.org();
    await world.member(orgId, 'Zoe', 'member');
    expect((await dan.members.list({ query: 'Zoe' })).items).toEqual([]);
  });
});

describe('members.profile', () => {
  it('shows oneself, with what one did', async () => {
    const { orgId, ana, chloe, robo } = await world.org();
    const web = await arrangeProject(world, orgId, 'WEB');
    const stories: string[] = [];
    for (let n = 0; n < 4; n += 1) stories.push(await arrangeStory(world, orgId, web));
    const [first = '', second = '', third = '', fourth = ''] = stories;
    const { memberId } = chloe.me;
    await arrangeAssignment(world, orgId, first, { memberId });
    await arrangeAssignment(world, orgId, second, { memberId, agentId: robo.me.agentId });
    await arrangeAssignment(world, orgId, third, { agentId: robo.me.agentId });
    await arrangeAssignment(world, orgId, fourth, { memberId });
    await world.rows(`update stories set status = 'canceled', column_id = null where id = $1`, fourth);
    await arrangeReview(world, orgId, first, chloe, 'approved');
    await arrangeReview(world, orgId, second, chloe);
    await arrangeReview(world, orgId, second, robo, 'approved');
    await arrangeReview(world, orgId, second, ana, 'approved');
    await arrangeComment(world, orgId, first, chloe);
    await arrangeComment(world, orgId, first, chloe, { deleted: true });
    await arrangeComment(world, orgId, first, robo);
    await arrangeComment(world, orgId, first, ana);
    const answer = await chloe.members.profile();
    expect(organizationsRegistry.members.profile.result.parse(answer)).toEqual(answer);
    expect(answer).toEqual({
      member: (await chloe.session.identity()).member,
      agents: [{ id: robo.me.agentId, name: 'Robo', slug: 'robo' }],
      teams: [],
      projects: [{ id: web, key: 'WEB', name: 'WEB', role: 'contributor' }],
      stats: { storiesDone: 2, reviewsGiven: 1, commentsWritten: 1, activeExecutions: 0 },
    });
    expect(await ana.members.profile({ memberId })).toEqual(answer);
  });

  it('names the agents to whom work can be handed, to agents too, and none that is retired', async () => {
    const { chloe, dan, robo } = await world.org();
    const { memberId } = chloe.me;
    await chloe.agents.create({ name: 'Butler' });
    const named = async (who: PersonOf<typeof world>, params = {}) =>
      (await who.members.profile(params)).agents.map(({ name }) => name);
    expect(await named(robo)).toEqual(['Butler', 'Robo']);
    expect(await named(dan, { memberId })).toEqual(['Butler', 'Robo']);
    expect(await named(dan)).toEqual([]);
    await chloe.agents.retire({ agentId: robo.me.agentId ?? '' });
    expect(await named(chloe)).toEqual(['Butler']);
  });

  it('shows a member’s projects and roles only as far as the caller may see the project', async () => {
    const { orgId, ana, ben, chloe, dan } = await world.org();
    await arrangeProject(world, orgId, 'OPEN');
    await arrangeProject(world, orgId, 'OLD', { archived: true });
    const [both, hers] = [
      await arrangeProject(world, orgId, 'BOTH', { visibility: 'private' }),
      await arrangeProject(world, orgId, 'HERS', { visibility: 'private' }),
    ];
    await arrangeProjectMember(world, orgId, both, chloe, 'lead');
    await arrangeProjectMember(world, orgId, both, dan, 'viewer');
    await arrangeProjectMember(world, orgId, hers, chloe, 'viewer');
    const seenBy = async (who: typeof ana, whom: typeof ana) =>
      (await who.members.profile({ memberId: whom.me.memberId })).projects.map(
        ({ key, role }) => `${key} ${role}`,
      );
    expect(await seenBy(ana, chloe)).toEqual(['BOTH lead', 'HERS viewer', 'OPEN contributor']);
    expect(await seenBy(dan, chloe)).toEqual(['BOTH lead', 'OPEN contributor']);
    expect(await seenBy(dan, ben)).toEqual(['BOTH lead', 'OPEN lead']);
    expect(await seenBy(chloe, dan)).toEqual(['BOTH viewer', 'OPEN viewer']);
    const bound = await world.token(orgId, chloe.me.memberId, { projectIds: [hers] });
    expect(await seenBy(bound, chloe)).toEqual(['HERS viewer']);
  });

  it('shows the teams, and of who was removed neither teams nor projects', async () => {
    const { orgId, ana, chloe, dan } = await world.org();
    await arrangeProject(world, orgId, 'OPEN');
    for (const name of ['Web', 'App']) {
      const { team } = await ana.teams.create({ name });
      await ana.teams.members.add({ teamId: team.id, memberId: chloe.me.memberId });
    }
    const { memberId } = chloe.me;
    expect((await dan.members.profile({ memberId })).teams).toMatchObject([{ name: 'App' }, { name: 'Web' }]);
    await ana.members.removeMember({ memberId });
    expect(await dan.members.profile({ memberId })).toMatchObject({
      member: { id: memberId, status: 'removed' },
      teams: [],
      projects: [],
    });
  });

  it('knows nobody of another organization', async () => {
    const { dan } = await world.org();
    const { ana } = await world.org();
    for (const memberId of [ana.me.memberId, newId()]) {
      await expect(dan.members.profile({ memberId })).rejects.toMatchObject({ status: 404 });
    }
  });
});

describe('members.setRole', () => {
  const takeSeats = (orgId: string, seats: number) =>
    world.rows('update subscriptions set seats = $2 where org_id = $1', orgId, seats);

  it('gives another role, and says from which', async () => {
    const { orgId, ben, chloe } = await world.org();
    const { memberId } = chloe.me;
    const { member } = await ben.members.setRole({ memberId, role: 'viewer' });
    expect(member).toMatchObject({ id: memberId, role: 'viewer', version: 2 });
    expect((await chloe.session.identity()).member).toEqual(member);
    expect(await ben.members.setRole({ memberId, role: 'viewer' })).toEqual({ member });
    const events = await world.rows('select kind, data, subject from activity where org_id = $1', orgId);
    expect(events).toMatchObject([
      {
        kind: 'member.roleChanged',
        data: { from: 'member', to: 'viewer' },
        subject: { type: 'member', id: memberId, title: 'Chloé' },
      },
    ]);
  });

  it('lets only the owner make or unmake an admin, and nobody change the owner', async () => {
    const { orgId, ana, ben, chloe } = await world.org();
    const denied = { status: 403, reason: 'role' };
    const owner = { status: 422, reason: 'owner_required' };
    const set = (by: typeof ana, who: typeof ana, role: 'admin' | 'member' | 'viewer') =>
      by.members.setRole({ memberId: who.me.memberId, role });
    await expect(set(ben, chloe, 'admin')).rejects.toMatchObject(denied);
    await set(ana, chloe, 'admin');
    await expect(set(ben, chloe, 'member')).rejects.toMatchObject(denied);
    await expect(set(ben, ben, 'member')).rejects.toMatchObject(denied);
    await expect(set(ben, ana, 'member')).rejects.toMatchObject(owner);
    await expect(set(ana, ana, 'admin')).rejects.toMatchObject(owner);
    expect((await set(ana, chloe, 'viewer')).member.role).toBe('viewer');
    await expect(set(chloe, ben, 'viewer')).rejects.toMatchObject(denied);
    const denials = await world.rows(
      `select from audit where org_id = $1 and operation = 'members.setRole' and outcome = 'denied'`,
      orgId,
    );
    expect(denials).toHaveLength(4);
  });

  it('asks for a free seat when a viewer becomes more, counting what is promised to the invited', async () => {
    const { orgId, ana, chloe, dan } = await world.org();
    await takeSeats(orgId, 3);
    const promote = () => ana.members.setRole({ memberId: dan.me.memberId, role: 'member' });
    await expect(promote()).rejects.toMatchObject({
      status: 422,
      reason: 'seats_exhausted',
      body: { details: { purchased: 3, used: 3, pending: 0 } },
    });
    // A member who already holds a seat needs no other one.
    await ana.members.setRole({ memberId: chloe.me.memberId, role: 'admin' });
    await ana.members.setRole({ memberId: chloe.me.memberId, role: 'viewer' });
    await ana.members.invite({ email: 'eve@example.com', role: 'member' });
    await expect(promote()).rejects.toMatchObject({
      reason: 'seats_exhausted',
      body: { details: { used: 2, pending: 1 } },
    });
    await takeSeats(orgId, 4);
    expect((await promote()).member.role).toBe('member');
  });

  it('gives the last seat once when two want it at once', async () => {
    const { orgId, ana, ben, dan } = await world.org();
    const eve = await world.member(orgId, 'Eve', 'viewer');
    await takeSeats(orgId, 4);
    const outcomes = await world.runUnderContention(
      { table: 'subscriptions', column: 'org_id', id: orgId },
      () => ana.members.setRole({ memberId: dan.me.memberId, role: 'member' }),
      () => ben.members.setRole({ memberId: eve.me.memberId, role: 'member' }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const lost = outcomes.find((outcome) => outcome.status === 'rejected');
    expect(lost?.reason).toMatchObject({ reason: 'seats_exhausted' });
  });

  it('knows nobody who is gone, unknown or of another organization, and no role of an owner', async () => {
    const { ana, chloe } = await world.org();
    const { chloe: stranger } = await world.org();
    await ana.members.removeMember({ memberId: chloe.me.memberId });
    for (const memberId of [chloe.me.memberId, stranger.me.memberId, newId()]) {
      await expect(ana.members.setRole({ memberId, role: 'viewer' })).rejects.toMatchObject({ status: 404 });
    }
    const owner = { memberId: chloe.me.memberId, role: 'owner' };
    await expect(world.call(ana, organizationsHandlers.members.setRole, owner)).rejects.toMatchObject({
      status: 400,
    });
  });
});
