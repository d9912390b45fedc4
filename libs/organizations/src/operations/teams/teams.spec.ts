import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { organizationsRegistry } from '@muster/organizations-registry';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeProject } from '../../../test/work.ts';
import { organizationsHandlers } from '../../index.ts';

const world = useWorld(organizationsHandlers);

const eventsOf = (orgId: string) =>
  world.rows('select kind, data from activity where org_id = $1 order by seq', orgId);

/** Creates a team with Chloé as its lead and Dan as a member. */
async function arrangeTeam({ ana, chloe, dan }: PeopleOf<typeof world>) {
  const { team } = await ana.teams.create({ name: 'Web', description: 'All of it' });
  const { id: teamId } = team;
  await ana.teams.members.add({ teamId, memberId: chloe.me.memberId, role: 'lead' });
  await ana.teams.members.add({ teamId, memberId: dan.me.memberId });
  return { team, teamId };
}

describe('teams.create', () => {
  it('makes a team that everybody sees', async () => {
    const { orgId, ben, dan } = await world.org();
    const answer = await ben.teams.create({ name: ' Web ', description: 'All of it' });
    expect(organizationsRegistry.teams.create.result.parse(answer)).toEqual(answer);
    expect(answer.team).toMatchObject({ name: 'Web', description: 'All of it', version: 1 });
    expect(await dan.teams.get({ teamId: answer.team.id })).toEqual(answer);
    expect(await eventsOf(orgId)).toEqual([{ kind: 'team.created', data: {} }]);
  });

  it('takes a name once in an organization, in any case', async () => {
    const { ana, chloe } = await world.org();
    const { ana: elsewhere } = await world.org();
    await ana.teams.create({ name: 'Web' });
    await elsewhere.teams.create({ name: 'Web' });
    for (const name of ['Web', 'WEB', ' web']) {
      await expect(ana.teams.create({ name })).rejects.toMatchObject({
        status: 409,
        reason: 'already_exists',
      });
    }
    await expect(chloe.teams.create({ name: 'App' })).rejects.toMatchObject({ status: 403 });
  });
});

describe('teams.list', () => {
  it('pages by name in any case, and finds a part of it', async () => {
    const { orgId, ana, dan } = await world.org();
    const { ana: elsewhere } = await world.org();
    await elsewhere.teams.create({ name: 'Foreign' });
    for (const name of ['beta', 'Alpha', 'Gamma', '100%']) await ana.teams.create({ name });
    const names: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { items: { name: string }[]; nextCursor: string | null } = await dan.teams.list({
        limit: 2,
        ...(cursor !== '' && { cursor }),
      });
      names.push(...page.items.map(({ name }) => name));
      if (cursor === '') {
        await world.rows('insert into teams (org_id, id, name) values ($1, $2, $3)', orgId, newId(), '0');
      }
      cursor = page.nextCursor;
    }
    expect(names).toEqual(['100%', 'Alpha', 'beta', 'Gamma']);
    const found = async (query: string) => (await dan.teams.list({ query })).items.map(({ name }) => name);
    expect(await found('A')).toEqual(['Alpha', 'beta', 'Gamma']);
    expect(await found('%')).toEqual(['100%']);
    for (const bad of ['bm9uZQ', Buffer.from('["\\u0000"]').toString('base64url')]) {
      await expect(dan.teams.list({ cursor: bad })).rejects.toMatchObject({ status: 400 });
    }
  });
});

describe('teams.update', () => {
  it('changes what is given, clears what is null, and says which fields', async () => {
    const people = await world.org();
    const { orgId, ben } = people;
    const { team, teamId } = await arrangeTeam(people);
    expect((await ben.teams.update({ teamId, name: 'Web' })).team).toEqual(team);
    const { team: changed } = await ben.teams.update({ teamId, name: 'WEB', expectedVersion: 1 });
    expect(changed).toEqual({ ...team, name: 'WEB', version: 2, updatedAt: changed.updatedAt });
    expect((await eventsOf(orgId)).at(-1)).toEqual({ kind: 'team.updated', data: { fields: ['name'] } });
    await ben.teams.update({ teamId, description: 'Who' });
    expect((await ben.teams.update({ teamId, description: null })).team).toMatchObject({
      description: null,
      version: 4,
    });
    await expect(ben.teams.update({ teamId, expectedVersion: 1 })).rejects.toMatchObject({
      status: 409,
      reason: 'version_mismatch',
      body: { details: { currentVersion: 4 } },
    });
    await ben.teams.create({ name: 'App' });
    await expect(ben.teams.update({ teamId, name: 'app' })).rejects.toMatchObject({
      status: 409,
      reason: 'already_exists',
    });
  });

  it('is for admins and the leads of the team, also with a token that only writes', async () => {
    const people = await world.org();
    const { orgId, ana, chloe, dan } = people;
    const { teamId } = await arrangeTeam(people);
    const { team: other } = await ana.teams.create({ name: 'App' });
    const eve = await world.member(orgId, 'Eve', 'member');
    for (const person of [dan, eve]) {
      await expect(person.teams.update({ teamId, description: 'x' })).rejects.toMatchObject({
        status: 403,
        reason: 'role',
      });
    }
    await expect(chloe.teams.update({ teamId: other.id, name: 'x' })).rejects.toMatchObject({ status: 403 });
    const writer = await world.token(orgId, chloe.me.memberId, { scopes: ['write'] });
    expect((await writer.teams.update({ teamId, description: 'x' })).team.description).toBe('x');
    await ana.teams.members.setRole({ teamId, memberId: chloe.me.memberId, role: 'member' });
    await expect(chloe.teams.update({ teamId, description: 'y' })).rejects.toMatchObject({ status: 403 });
  });

  it('is no admin’s by a token that only writes', async () => {
    const people = await world.org();
    const { orgId, ben, chloe } = people;
    const { teamId } = await arrangeTeam(people);
    const writer = await world.token(orgId, ben.me.memberId, { scopes: ['write'], agent: 'Scribe' });
    const { memberId } = ben.me;
    for (const call of [
      () => writer.teams.update({ teamId, name: 'x' }),
      () => writer.teams.members.add({ teamId, memberId, role: 'lead' }),
      () => writer.teams.members.setRole({ teamId, memberId: chloe.me.memberId, role: 'member' }),
      () => writer.teams.members.remove({ teamId, memberId: chloe.me.memberId }),
    ])
      await expect(call()).rejects.toMatchObject({ status: 403, reason: 'scope' });
    await ben.teams.members.add({ teamId, memberId, role: 'lead' });
    expect((await writer.teams.update({ teamId, name: 'x' })).team.name).toBe('x');
  });

  it('lets one of two with the same version through', async () => {
    const people = await world.org();
    const { ana, chloe } = people;
    const { teamId } = await arrangeTeam(people);
    const outcomes = await world.runUnderContention(
      { table: 'teams', id: teamId },
      () => ana.teams.update({ teamId, name: 'A', expectedVersion: 1 }),
      () => chloe.teams.update({ teamId, name: 'B', expectedVersion: 1 }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('teams.delete', () => {
  it('ends the team and the roles in projects through it, and leaves its people', async () => {
    const people = await world.org();
    const { orgId, ana, ben, chloe, dan } = people;
    const { teamId } = await arrangeTeam(people);
    const projectId = await arrangeProject(world, orgId, 'HID', { visibility: 'private' });
    await world.rows(
      `insert into project_teams (org_id, project_id, team_id, role) values ($1, $2, $3, 'lead')`,
      orgId,
      projectId,
      teamId,
    );
    expect((await chloe.members.profile()).projects).toMatchObject([{ key: 'HID', role: 'lead' }]);
    await expect(chloe.teams.delete({ teamId })).rejects.toMatchObject({ status: 403 });
    expect(await ben.teams.delete({ teamId })).toEqual({ deleted: true });
    expect(await chloe.members.profile()).toMatchObject({ teams: [], projects: [] });
    expect((await dan.session.identity()).member.status).toBe('active');
    expect((await eventsOf(orgId)).at(-1)).toEqual({ kind: 'team.deleted', data: {} });
    await expect(ana.teams.delete({ teamId })).rejects.toMatchObject({ status: 404 });
  });

  it('races with somebody being added, and leaves nothing', async () => {
    const people = await world.org();
    const { orgId, ana, ben } = people;
    const { teamId } = await arrangeTeam(people);
    await world.runUnderContention<unknown>(
      { table: 'teams', id: teamId },
      () => ana.teams.delete({ teamId }),
      () => ana.teams.members.add({ teamId, memberId: ben.me.memberId }),
    );
    expect(await world.rows('select from team_members where org_id = $1', orgId)).toEqual([]);
  });
});

describe('teams.members', () => {
  it('are added, get another role, and are taken out', async () => {
    const people = await world.org();
    const { orgId, ana, ben, chloe } = people;
    const { teamId } = await arrangeTeam(people);
    const { memberId } = ben.me;
    const answer = await chloe.teams.members.add({ teamId, memberId });
    expect(organizationsRegistry.teams.members.add.result.parse(answer)).toEqual(answer);
    expect(answer.teamMember).toMatchObject({ teamId, memberId, name: 'Ben', handle: 'ben', role: 'member' });
    await expect(ana.teams.members.add({ teamId, memberId, role: 'lead' })).rejects.toMatchObject({
      status: 409,
      reason: 'already_exists',
    });
    const lead = { ...answer.teamMember, role: 'lead' };
    for (let times = 0; times < 2; times += 1) {
      const changed = await chloe.teams.members.setRole({ teamId, memberId, role: 'lead' });
      expect(changed).toEqual({ teamMember: lead });
    }
    expect((await ben.session.identity()).teams).toEqual([{ id: teamId, name: 'Web', role: 'lead' }]);
    expect(await ben.teams.members.remove({ teamId, memberId })).toEqual({ deleted: true });
    for (const call of [
      () => ana.teams.members.remove({ teamId, memberId }),
      () => ana.teams.members.setRole({ teamId, memberId, role: 'lead' }),
    ]) {
      await expect(call()).rejects.toMatchObject({ status: 404 });
    }
    expect((await eventsOf(orgId)).slice(3)).toEqual([
      { kind: 'team.memberAdded', data: { memberId, role: 'member' } },
      { kind: 'team.memberRoleChanged', data: { memberId, role: 'lead' } },
      { kind: 'team.memberRemoved', data: { memberId } },
    ]);
  });

  it('are for admins and the leads of the team to change', async () => {
    const people = await world.org();
    const { orgId, dan } = people;
    const { teamId } = await arrangeTeam(people);
    const eve = await world.member(orgId, 'Eve', 'member');
    const { memberId } = eve.me;
    for (const person of [dan, eve]) {
      for (const call of [
        () => person.teams.members.add({ teamId, memberId }),
        () => person.teams.members.setRole({ teamId, memberId: dan.me.memberId, role: 'lead' }),
        () => person.teams.members.remove({ teamId, memberId: dan.me.memberId }),
      ]) {
        await expect(call()).rejects.toMatchObject({ status: 403, reason: 'role' });
      }
    }
  });

  it('are led by no viewer of the organization, neither added nor made one', async () => {
    const people = await world.org();
    const { ana, chloe, dan } = people;
    const { teamId } = await arrangeTeam(people);
    const { team: other } = await ana.teams.create({ name: 'App' });
    const refused = {
      status: 422,
      reason: 'policy',
      body: { details: { unmet: ['viewers_hold_no_seat'] } },
    };
    const { memberId } = dan.me;
    await expect(ana.teams.members.add({ teamId: other.id, memberId, role: 'lead' })).rejects.toMatchObject(
      refused,
    );
    await expect(ana.teams.members.setRole({ teamId, memberId, role: 'lead' })).rejects.toMatchObject(
      refused,
    );
    await ana.members.setRole({ memberId: chloe.me.memberId, role: 'viewer' });
    expect((await chloe.session.identity()).teams).toEqual([{ id: teamId, name: 'Web', role: 'member' }]);
    await expect(chloe.teams.update({ teamId, name: 'x' })).rejects.toMatchObject({ status: 403 });
  });

  it('are never gone, unknown or of another organization, nor is the team', async () => {
    const people = await world.org();
    const { ana, ben, chloe } = people;
    const stranger = await world.org();
    const { teamId } = await arrangeTeam(people);
    const { teamId: foreign } = await arrangeTeam(stranger);
    await ana.members.removeMember({ memberId: ben.me.memberId });
    const memberId = chloe.me.memberId;
    for (const who of [ben.me.memberId, newId(), stranger.ben.me.memberId]) {
      await expect(ana.teams.members.add({ teamId, memberId: who })).rejects.toMatchObject({ status: 404 });
    }
    for (const nowhere of [foreign, newId()]) {
      for (const call of [
        () => ana.teams.get({ teamId: nowhere }),
        () => ana.teams.update({ teamId: nowhere, name: 'x' }),
        () => ana.teams.delete({ teamId: nowhere }),
        () => ana.teams.members.add({ teamId: nowhere, memberId }),
        () => ana.teams.members.setRole({ teamId: nowhere, memberId, role: 'lead' }),
        () => ana.teams.members.remove({ teamId: nowhere, memberId }),
        () => ana.teams.members.list({ teamId: nowhere }),
      ]) {
        await expect(call()).rejects.toMatchObject({ status: 404 });
      }
    }
  });

  it('are listed in the order in which they came, page by page', async () => {
    const people = await world.org();
    const { ana, ben, chloe, dan } = people;
    const { teamId } = await arrangeTeam(people);
    await ana.teams.members.add({ teamId, memberId: ben.me.memberId });
    // Two calls may happen in the same millisecond, or the clock may be changed in between.
    for (const [day, { me }] of [chloe, dan, ben].entries())
      await world.rows(
        `update team_members set created_at = timestamptz '2026-01-01' + make_interval(days => $2) where member_id = $1`,
        me.memberId,
        day,
      );
    const { items, nextCursor } = await dan.teams.members.list({ teamId, limit: 2 });
    expect(items.map(({ name, role }) => `${name} ${role}`)).toEqual(['Chloé lead', 'Dan member']);
    const rest = await dan.teams.members.list({ teamId, limit: 2, cursor: nextCursor ?? '' });
    expect(rest).toMatchObject({ items: [{ name: 'Ben' }], nextCursor: null });
    await expect(dan.teams.members.list({ teamId, cursor: 'bm9uZQ' })).rejects.toMatchObject({ status: 400 });
  });

  it('are added once by two at once', async () => {
    const people = await world.org();
    const { orgId, ana, ben, chloe } = people;
    const { teamId } = await arrangeTeam(people);
    const add = { teamId, memberId: ben.me.memberId };
    const outcomes = await world.runUnderContention(
      { table: 'teams', id: teamId },
      () => ana.teams.members.add(add),
      () => chloe.teams.members.add({ ...add, role: 'lead' }),
    );
    const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(lost.map(({ reason }) => (reason as { reason: string }).reason)).toEqual(['already_exists']);
    expect(await world.rows('select from team_members where org_id = $1', orgId)).toHaveLength(3);
  });
});
