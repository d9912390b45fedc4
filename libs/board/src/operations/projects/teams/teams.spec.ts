import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { boardRegistry } from '@muster/board-registry';
import { useWorld } from '@muster/testing';
import { arrangeBoard } from '../../../../test/board.ts';
import { arrangeTeam } from '../../../../test/team.ts';
import { teamProjects } from '../../teams/projects/handlers.ts';
import { projects } from '../handlers.ts';

const world = useWorld({ projects, teams: { projects: teamProjects } });

const eventsOf = (orgId: string) =>
  world.rows<{ kind: string; data: unknown }>(
    `select kind, data from activity where org_id = $1 and kind like 'project.team%' order by seq`,
    orgId,
  );

/** Creates a private project without leads of its own, and Eve, who has no access to it. */
async function hidden() {
  const people = await world.org();
  const { projectId } = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
  return { ...people, projectId, eve: await world.member(people.orgId, 'Eve', 'member') };
}

describe('projects.assignTeam', () => {
  it('gives everybody in the team the role, also who joins later', async () => {
    const { orgId, ana, chloe, eve, projectId } = await hidden();
    const teamId = await arrangeTeam(world, orgId, { members: [chloe] });
    const assigned = await ana.projects.assignTeam({ projectId: 'HID', teamId, role: 'contributor' });
    expect(boardRegistry.projects.assignTeam.result.parse(assigned)).toEqual(assigned);
    expect(assigned.projectTeam).toMatchObject({ projectId, teamId, name: 'Platform', role: 'contributor' });
    await world.rows(
      `insert into team_members (org_id, team_id, member_id, role) values ($1, $2, $3, 'member')`,
      orgId,
      teamId,
      eve.me.memberId,
    );
    for (const who of [chloe, eve])
      expect((await who.projects.get({ projectId })).project.myRole).toBe('contributor');
  });

  it('changes the role when it is another, and nothing when it is the same', async () => {
    const { orgId, ana, projectId } = await hidden();
    const teamId = await arrangeTeam(world, orgId);
    const assign = async (role: 'viewer' | 'lead') =>
      (await ana.projects.assignTeam({ projectId, teamId, role })).projectTeam;
    const first = await assign('viewer');
    expect(await assign('viewer')).toEqual(first);
    expect(await assign('lead')).toEqual({ ...first, role: 'lead' });
    expect(await eventsOf(orgId)).toEqual([
      { kind: 'project.teamAssigned', data: { teamId, role: 'viewer' } },
      { kind: 'project.teamAssigned', data: { teamId, role: 'lead' } },
    ]);
  });

  it('is for leads, and knows only teams of its own organization', async () => {
    const { orgId, ana, eve, projectId } = await hidden();
    const { orgId: elsewhere } = await world.org();
    for (const teamId of [newId(), await arrangeTeam(world, elsewhere)]) {
      await expect(ana.projects.assignTeam({ projectId, teamId, role: 'viewer' })).rejects.toMatchObject({
        code: 'not_found',
      });
    }
    const teamId = await arrangeTeam(world, orgId, {
      members: [eve],
      projectRole: { projectId, role: 'contributor' },
    });
    for (const call of [
      () => eve.projects.assignTeam({ projectId, teamId, role: 'lead' }),
      () => eve.projects.unassignTeam({ projectId, teamId }),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'forbidden' });
    }
  });
});

describe('projects.unassignTeam', () => {
  it("takes the team's role away, and what was given otherwise stays", async () => {
    const { orgId, ana, chloe, eve, projectId } = await hidden();
    const teamId = await arrangeTeam(world, orgId, {
      members: [chloe, eve],
      projectRole: { projectId, role: 'contributor' },
    });
    await ana.projects.members.add({ projectId, memberId: eve.me.memberId, role: 'viewer' });
    expect(await ana.projects.unassignTeam({ projectId, teamId })).toEqual({ deleted: true });
    await expect(chloe.projects.get({ projectId })).rejects.toMatchObject({ code: 'not_found' });
    expect((await eve.projects.get({ projectId })).project.myRole).toBe('viewer');
    expect(await eventsOf(orgId)).toEqual([{ kind: 'project.teamUnassigned', data: { teamId } }]);
    for (const gone of [teamId, newId()]) {
      await expect(ana.projects.unassignTeam({ projectId, teamId: gone })).rejects.toMatchObject({
        code: 'not_found',
      });
    }
  });

  it('keeps a private project its last lead, whom a team or a member alone brings', async () => {
    const { orgId, ana, chloe, eve, projectId } = await hidden();
    const teamId = await arrangeTeam(world, orgId, {
      members: [chloe],
      projectRole: { projectId, role: 'lead' },
    });
    for (const call of [
      () => ana.projects.unassignTeam({ projectId, teamId }),
      () => ana.projects.assignTeam({ projectId, teamId, role: 'contributor' }),
    ]) {
      await expect(call()).rejects.toMatchObject({ status: 422, reason: 'lead_required' });
    }
    // The project keeps its lead if one of two leading teams is removed, or a team without members.
    const other = await arrangeTeam(world, orgId, {
      name: 'Other',
      members: [eve],
      projectRole: { projectId, role: 'lead' },
    });
    const empty = await arrangeTeam(world, orgId, {
      name: 'Empty',
      projectRole: { projectId, role: 'lead' },
    });
    await ana.projects.unassignTeam({ projectId, teamId: empty });
    await ana.projects.unassignTeam({ projectId, teamId: other });
    await ana.projects.members.add({ projectId, memberId: eve.me.memberId, role: 'lead' });
    await ana.projects.unassignTeam({ projectId, teamId });
    await expect(ana.projects.members.remove({ projectId, memberId: eve.me.memberId })).rejects.toMatchObject(
      { reason: 'lead_required' },
    );
  });

  it('lets one of two go who are the last leads, a team and a member', async () => {
    const { orgId, ana, ben, chloe, eve, projectId } = await hidden();
    const teamId = await arrangeTeam(world, orgId, {
      members: [chloe],
      projectRole: { projectId, role: 'lead' },
    });
    await ana.projects.members.add({ projectId, memberId: eve.me.memberId, role: 'lead' });
    const outcomes = await world.runUnderContention<unknown>(
      { table: 'projects', id: projectId },
      () => ana.projects.unassignTeam({ projectId, teamId }),
      () => ben.projects.members.remove({ projectId, memberId: eve.me.memberId }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('projects.teams.list', () => {
  it('shows the teams of a project by name, page by page, with their roles', async () => {
    const { orgId, ana, projectId } = await hidden();
    const { projectId: other } = await arrangeBoard(world, orgId, { key: 'WEB' });
    await arrangeTeam(world, orgId, { name: 'Elsewhere', projectRole: { projectId: other, role: 'lead' } });
    const id = await arrangeTeam(world, orgId, { name: 'beta', projectRole: { projectId, role: 'lead' } });
    await arrangeTeam(world, orgId, { name: 'Alpha', projectRole: { projectId, role: 'viewer' } });
    await arrangeTeam(world, orgId, { name: 'Gamma', projectRole: { projectId, role: 'contributor' } });
    const first = await ana.projects.teams.list({ projectId, limit: 2 });
    const second = await ana.projects.teams.list({ projectId, limit: 2, cursor: first.nextCursor ?? '' });
    expect([...first.items, ...second.items].map(({ team, role }) => `${team.name} ${role}`)).toEqual([
      'Alpha viewer',
      'beta lead',
      'Gamma contributor',
    ]);
    expect(first.items[1]?.team).toEqual({ id, name: 'beta' });
    expect(second.nextCursor).toBeNull();
    await expect(ana.projects.teams.list({ projectId, cursor: 'bm9uZQ' })).rejects.toMatchObject({
      status: 400,
    });
  });
});

describe('teams.projects.list', () => {
  it('shows the projects of a team by key, page by page, and only those that one may see', async () => {
    const { orgId, ana, chloe, dan, projectId } = await hidden();
    const teamId = await arrangeTeam(world, orgId, { projectRole: { projectId, role: 'lead' } });
    for (const key of ['WEB', 'APP']) {
      const { projectId: open } = await arrangeBoard(world, orgId, { key });
      await ana.projects.assignTeam({ projectId: open, teamId, role: 'contributor' });
    }
    const seen = async (who: typeof ana, params: object = {}) =>
      (await who.teams.projects.list({ teamId, ...params })).items.map(
        ({ project, role }) => `${project.key} ${role}`,
      );
    expect(await seen(ana)).toEqual(['APP contributor', 'HID lead', 'WEB contributor']);
    for (const who of [chloe, dan]) expect(await seen(who)).toEqual(['APP contributor', 'WEB contributor']);
    const bound = await world.token(orgId, ana.me.memberId, { projectIds: [projectId] });
    expect(await seen(bound)).toEqual(['HID lead']);
    const first = await ana.teams.projects.list({ teamId, limit: 1 });
    expect(first.items[0]?.project).toMatchObject({ key: 'APP', name: 'APP' });
    expect(await seen(ana, { cursor: first.nextCursor })).toEqual(['HID lead', 'WEB contributor']);
  });

  it('knows only teams of its own organization', async () => {
    const { ana } = await world.org();
    const { orgId: elsewhere } = await world.org();
    for (const teamId of [newId(), await arrangeTeam(world, elsewhere)])
      await expect(ana.teams.projects.list({ teamId })).rejects.toMatchObject({ code: 'not_found' });
  });
});
