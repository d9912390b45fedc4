import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type Participant } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard } from '../../../../test/board.ts';
import { arrangeTeam } from '../../../../test/team.ts';
import { projects } from '../handlers.ts';

const world = useWorld({ projects });

const eventsOf = (orgId: string) =>
  world.rows<{ kind: string; data: unknown; project_id: string | null }>(
    `select kind, data, project_id from activity where org_id = $1 and kind like 'project.member%' order by seq`,
    orgId,
  );
const leadsOf = (projectId: string) =>
  world.rows<{ member_id: string }>(
    `select member_id from project_members where project_id = $1 and role = 'lead'`,
    projectId,
  );

/** Creates a private project whose only lead is Chloé. */
async function hidden() {
  const people = await world.org();
  const { project } = await people.chloe.projects.create({ key: 'HID', name: 'Hid', visibility: 'private' });
  const eve = await world.member(people.orgId, 'Eve', 'member');
  return { ...people, project, eve, projectId: project.id };
}

describe('projects.members.add', () => {
  it('lets somebody in, and says so', async () => {
    const { orgId, chloe, eve, projectId } = await hidden();
    await expect(eve.projects.get({ projectId })).rejects.toMatchObject({ code: 'not_found' });
    const added = await chloe.projects.members.add({
      projectId: 'hid',
      memberId: eve.me.memberId,
      role: 'contributor',
    });
    expect(boardRegistry.projects.members.add.result.parse(added)).toEqual(added);
    expect(added.projectMember).toMatchObject({
      projectId,
      memberId: eve.me.memberId,
      name: 'Eve',
      handle: 'eve',
      role: 'contributor',
    });
    expect((await eve.projects.get({ projectId })).project.myRole).toBe('contributor');
    expect(await eventsOf(orgId)).toEqual([
      {
        kind: 'project.memberAdded',
        data: { memberId: eve.me.memberId, role: 'contributor' },
        project_id: projectId,
      },
    ]);
  });

  it('changes the role when it is another, and nothing when it is the same', async () => {
    const { orgId, chloe, eve, projectId } = await hidden();
    const add = async (role: 'viewer' | 'lead') =>
      (await chloe.projects.members.add({ projectId, memberId: eve.me.memberId, role })).projectMember;
    const first = await add('viewer');
    expect(await add('viewer')).toEqual(first);
    expect(await add('lead')).toEqual({ ...first, role: 'lead' });
    expect(await add('viewer')).toEqual(first);
    expect((await eventsOf(orgId)).map(({ data }) => data)).toMatchObject([
      { role: 'viewer' },
      { role: 'lead' },
      { role: 'viewer' },
    ]);
  });

  it('gives a viewer of the organization no more than reading, today and whatever becomes of them', async () => {
    const { orgId, chloe, dan, eve, projectId } = await hidden();
    const add = (who: PersonOf<typeof world>, role: 'viewer' | 'contributor' | 'lead') =>
      chloe.projects.members.add({ projectId, memberId: who.me.memberId, role });
    for (const role of ['contributor', 'lead'] as const) {
      await expect(add(dan, role)).rejects.toMatchObject({
        status: 422,
        reason: 'policy',
        body: { details: { unmet: ['viewers_hold_no_seat'] } },
      });
    }
    await add(dan, 'viewer');
    expect((await dan.projects.get({ projectId })).project.myRole).toBe('viewer');
    await add(eve, 'lead');
    await world.rows(`update members set role = 'viewer' where id = $1`, eve.me.memberId);
    expect((await eve.projects.get({ projectId })).project.myRole).toBe('viewer');
    await expect(eve.projects.update({ projectId, name: 'x' })).rejects.toMatchObject({ code: 'forbidden' });
    const { items } = await chloe.projects.members.list({ projectId });
    expect(items.find(({ name }) => name === 'Eve')?.role).toBe('viewer');
    await arrangeTeam(world, orgId, { members: [dan], projectRole: { projectId, role: 'lead' } });
    expect((await dan.projects.get({ projectId })).project.myRole).toBe('viewer');
  });

  it('is for leads, and knows only active members of its own organization', async () => {
    const { orgId, chloe, eve, projectId } = await hidden();
    const { chloe: stranger } = await world.org();
    const gone = await world.member(orgId, 'Gone', 'member');
    await world.rows(`update members set status = 'removed' where id = $1`, gone.me.memberId);
    for (const memberId of [newId(), stranger.me.memberId, gone.me.memberId]) {
      await expect(chloe.projects.members.add({ projectId, memberId, role: 'viewer' })).rejects.toMatchObject(
        { code: 'not_found' },
      );
    }
    const params = { projectId, memberId: eve.me.memberId, role: 'lead' as const };
    await expect(eve.projects.members.add(params)).rejects.toMatchObject({ code: 'not_found' });
    await chloe.projects.members.add({ ...params, role: 'contributor' });
    await expect(eve.projects.members.add(params)).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('leaves a member who is just being removed outside', async () => {
    const { chloe, eve, projectId } = await hidden();
    const holder = await world.database.owner.connect();
    await holder.query('begin');
    await holder.query(`update members set status = 'removed' where id = $1`, [eve.me.memberId]);
    const adding = chloe.projects.members.add({ projectId, memberId: eve.me.memberId, role: 'viewer' });
    const refused = expect(adding).rejects.toMatchObject({ code: 'not_found' });
    await world.waitUntilBlocked(1);
    await holder.query('commit');
    holder.release();
    await refused;
    expect(await world.rows('select from project_members where member_id = $1', eve.me.memberId)).toEqual([]);
  });
});

describe('the last lead of a private project', () => {
  it('can neither go nor become less, not even by the hand of the owner', async () => {
    const { ana, chloe, eve, projectId } = await hidden();
    const memberId = chloe.me.memberId;
    for (const who of [ana, chloe]) {
      for (const call of [
        () => who.projects.members.remove({ projectId, memberId }),
        () => who.projects.members.add({ projectId, memberId, role: 'contributor' }),
      ]) {
        await expect(call()).rejects.toMatchObject({ status: 422, reason: 'lead_required' });
      }
    }
    await chloe.projects.members.add({ projectId, memberId: eve.me.memberId, role: 'lead' });
    await chloe.projects.members.add({ projectId, memberId, role: 'viewer' });
    await expect(eve.projects.members.remove({ projectId, memberId: eve.me.memberId })).rejects.toMatchObject(
      { reason: 'lead_required' },
    );
    expect(await eve.projects.members.remove({ projectId, memberId })).toEqual({ deleted: true });
    await expect(chloe.projects.get({ projectId })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('may be in a team, but does not count as a viewer of the organization or once removed', async () => {
    const { orgId, chloe, dan, eve, projectId } = await hidden();
    const memberId = chloe.me.memberId;
    await arrangeTeam(world, orgId, { name: 'Empty', projectRole: { projectId, role: 'lead' } });
    await arrangeTeam(world, orgId, {
      name: 'Viewers',
      members: [dan],
      projectRole: { projectId, role: 'lead' },
    });
    await arrangeTeam(world, orgId, {
      name: 'Hands',
      members: [eve],
      projectRole: { projectId, role: 'contributor' },
    });
    const gone = await world.member(orgId, 'Gone', 'member');
    await chloe.projects.members.add({ projectId, memberId: gone.me.memberId, role: 'lead' });
    await world.rows(`update members set status = 'removed' where id = $1`, gone.me.memberId);
    await expect(chloe.projects.members.remove({ projectId, memberId })).rejects.toMatchObject({
      reason: 'lead_required',
    });
    await arrangeTeam(world, orgId, {
      name: 'Leads',
      members: [chloe],
      projectRole: { projectId, role: 'lead' },
    });
    await chloe.projects.members.remove({ projectId, memberId });
    expect((await chloe.projects.get({ projectId })).project.myRole).toBe('lead');
  });

  it('is not needed where everybody sees the project, nor where there was none before', async () => {
    const { orgId, ana, chloe, eve } = await world.org().then(async (people) => ({
      ...people,
      eve: await world.member(people.orgId, 'Eve', 'member'),
    }));
    const { project } = await chloe.projects.create({ key: 'WEB', name: 'Web' });
    await chloe.projects.members.remove({ projectId: project.id, memberId: chloe.me.memberId });
    expect((await chloe.projects.get({ projectId: 'WEB' })).project.myRole).toBe('contributor');
    const { projectId } = await arrangeBoard(world, orgId, { key: 'OLD', visibility: 'private' });
    await ana.projects.members.add({ projectId, memberId: eve.me.memberId, role: 'viewer' });
    await ana.projects.members.remove({ projectId, memberId: eve.me.memberId });
  });

  it('is one of two who remove each other at once', async () => {
    const { chloe, eve, projectId } = await hidden();
    await chloe.projects.members.add({ projectId, memberId: eve.me.memberId, role: 'lead' });
    const outcomes = await world.runUnderContention<unknown>(
      { table: 'projects', id: projectId },
      () => chloe.projects.members.remove({ projectId, memberId: eve.me.memberId }),
      () => eve.projects.members.add({ projectId, memberId: chloe.me.memberId, role: 'viewer' }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { reason: 'lead_required' },
    });
    expect(await leadsOf(projectId)).toHaveLength(1);
  });

  it('is whoever makes a project private that has none, and nobody anew where there is one', async () => {
    const { orgId, ana, chloe } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    await ana.projects.update({ projectId, visibility: 'private' });
    expect(await leadsOf(projectId)).toEqual([{ member_id: ana.me.memberId }]);
    expect(await eventsOf(orgId)).toMatchObject([
      { kind: 'project.memberAdded', data: { memberId: ana.me.memberId, role: 'lead' } },
    ]);
    const { project } = await chloe.projects.create({ key: 'APP', name: 'App' });
    await ana.projects.update({ projectId: project.id, visibility: 'private' });
    expect(await leadsOf(project.id)).toEqual([{ member_id: chloe.me.memberId }]);
    // The project is already private and may stay without the lead it has lost.
    await world.rows('delete from project_members where project_id = $1', project.id);
    await ana.projects.update({ projectId: project.id, visibility: 'private', name: 'Other' });
    expect(await leadsOf(project.id)).toEqual([]);
  });

  it('is there however a project turning private meets its lead leaving', async () => {
    const { ana, chloe } = await world.org();
    const { project } = await chloe.projects.create({ key: 'WEB', name: 'Web' });
    await world.runUnderContention<unknown>(
      { table: 'projects', id: project.id },
      () => ana.projects.update({ projectId: project.id, visibility: 'private' }),
      () => chloe.projects.members.remove({ projectId: project.id, memberId: chloe.me.memberId }),
    );
    expect(await leadsOf(project.id)).toHaveLength(1);
  });
});

describe('projects.members.remove', () => {
  it('takes away what was given directly, and nothing else', async () => {
    const { orgId, ana, chloe, eve, projectId } = await hidden();
    const memberId = eve.me.memberId;
    await chloe.projects.members.add({ projectId, memberId, role: 'lead' });
    await arrangeTeam(world, orgId, { members: [eve], projectRole: { projectId, role: 'viewer' } });
    await chloe.projects.members.remove({ projectId, memberId });
    expect((await eve.projects.get({ projectId })).project.myRole).toBe('viewer');
    expect((await eventsOf(orgId)).at(-1)).toEqual({
      kind: 'project.memberRemoved',
      data: { memberId },
      project_id: projectId,
    });
    for (const gone of [memberId, ana.me.memberId, newId()]) {
      await expect(chloe.projects.members.remove({ projectId, memberId: gone })).rejects.toMatchObject({
        code: 'not_found',
      });
    }
    await expect(eve.projects.members.remove({ projectId, memberId })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });
});

describe('projects.members.list', () => {
  const shown = ({ name, role, via }: Participant) => `${name} ${role} ${via}`;

  it('shows in a private project who has a role, and where it comes from', async () => {
    const { orgId, ana, ben, chloe, dan, eve, projectId } = await hidden();
    await world.member(orgId, 'Nobody', 'member');
    const gone = await world.member(orgId, 'Gone', 'member');
    await chloe.projects.members.add({ projectId, memberId: ben.me.memberId, role: 'lead' });
    await chloe.projects.members.add({ projectId, memberId: eve.me.memberId, role: 'viewer' });
    await chloe.projects.members.add({ projectId, memberId: gone.me.memberId, role: 'viewer' });
    await world.rows(`update members set status = 'removed' where id = $1`, gone.me.memberId);
    await arrangeTeam(world, orgId, {
      name: 'A',
      members: [eve, dan, ana],
      projectRole: { projectId, role: 'contributor' },
    });
    await arrangeTeam(world, orgId, {
      name: 'B',
      members: [eve],
      projectRole: { projectId, role: 'viewer' },
    });
    const { items, nextCursor } = await dan.projects.members.list({ projectId });
    expect(items.map(shown)).toEqual([
      'Ana lead org',
      'Ben lead direct',
      'Chloé lead direct',
      'Dan viewer team',
      'Eve contributor team',
    ]);
    expect(nextCursor).toBeNull();
  });

  it('shows everybody where everybody has a role', async () => {
    const { orgId, ana, chloe, dan } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    await ana.projects.members.add({ projectId, memberId: chloe.me.memberId, role: 'viewer' });
    await ana.projects.members.add({ projectId, memberId: dan.me.memberId, role: 'viewer' });
    await arrangeTeam(world, orgId, { members: [chloe], projectRole: { projectId, role: 'contributor' } });
    const { items } = await dan.projects.members.list({ projectId: 'web' });
    expect(items.map(shown)).toEqual([
      'Ana lead org',
      'Ben lead org',
      'Chloé contributor team',
      'Dan viewer direct',
    ]);
  });

  it('says of each what the door says', async () => {
    const { orgId, ana } = await world.org();
    const teams = await Promise.all(['A', 'B', 'C'].map((name) => arrangeTeam(world, orgId, { name })));
    const roles = [null, 'viewer', 'contributor', 'lead'] as const;
    for (const visibility of ['org', 'private'] as const) {
      const key = visibility === 'org' ? 'PUB' : 'HID';
      const { projectId } = await arrangeBoard(world, orgId, { key, visibility });
      await world.rows(
        `insert into project_teams (org_id, project_id, team_id, role) select $1, $2, t.id, t.role
         from unnest($3::uuid[], array['viewer', 'contributor', 'lead']) t (id, role)`,
        orgId,
        projectId,
        teams,
      );
      for (const orgRole of ['member', 'viewer', 'admin'] as const) {
        for (const direct of roles) {
          for (const [n, team] of [undefined, ...teams].entries()) {
            const { me } = await world.member(
              orgId,
              `${visibility} ${orgRole} ${direct ?? 'none'} ${n}`,
              orgRole,
            );
            if (direct !== null)
              await world.rows(
                'insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, $4)',
                orgId,
                projectId,
                me.memberId,
                direct,
              );
            if (team !== undefined)
              await world.rows(
                `insert into team_members (org_id, team_id, member_id, role) values ($1, $2, $3, 'member')`,
                orgId,
                team,
                me.memberId,
              );
          }
        }
      }
      const { items } = await ana.projects.members.list({ projectId, limit: 200 });
      const counted = await world.rows<{ id: string; role: string }>(
        `select m.id, (array['viewer', 'contributor', 'lead'])[app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role)] as role
         from members m join projects p on p.org_id = m.org_id
         where p.id = $1 and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null order by m.name, m.id`,
        projectId,
      );
      expect(items.map(({ memberId, role }) => ({ id: memberId, role }))).toEqual(counted);
    }
  });

  it.each(['org', 'private'] as const)('pages by name in a project of visibility %s', async (visibility) => {
    const { orgId, ana } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId, { visibility });
    const twins = await Promise.all(
      ['Zoe', 'Élodie', "O'Neil, \\ %"].map((name) => world.member(orgId, name, 'admin')),
    );
    await world.rows(`update members set name = 'Ben' where id = $1`, twins[0]?.me.memberId);
    const all = (await ana.projects.members.list({ projectId })).items.map(({ memberId }) => memberId);
    expect(all).toHaveLength(visibility === 'org' ? 7 : 5);
    const paged: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < 10; page += 1) {
      const answer = await ana.projects.members.list({ projectId, limit: 1, ...(cursor && { cursor }) });
      paged.push(...answer.items.map(({ memberId }) => memberId));
      if (answer.nextCursor === null) break;
      cursor = answer.nextCursor;
    }
    expect(paged).toEqual(all);
    for (const bad of [['x'], ['a\0', newId()], ['x', 'y'], [1, newId()]]) {
      const forged = Buffer.from(JSON.stringify(bad)).toString('base64url');
      await expect(ana.projects.members.list({ projectId, cursor: forged })).rejects.toMatchObject({
        status: 400,
      });
    }
  });

  it('is not for who has no role', async () => {
    const { eve, projectId } = await hidden();
    await expect(eve.projects.members.list({ projectId })).rejects.toMatchObject({ code: 'not_found' });
  });
});
