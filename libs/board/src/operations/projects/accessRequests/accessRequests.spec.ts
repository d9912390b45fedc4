import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { boardRegistry } from '@muster/board-registry';
import { useWorld } from '@muster/testing';
import { arrangeBoard } from '../../../../test/board.ts';
import { arrangeTeam } from '../../../../test/team.ts';
import { projects } from '../handlers.ts';

const world = useWorld({ projects });

const eventsOf = (orgId: string) =>
  world.rows<{ kind: string; data: unknown; project_id: string | null }>(
    `select kind, data, project_id from activity where org_id = $1 and kind like 'access.%' order by seq`,
    orgId,
  );

/** Creates a private project of Chloé's. Eve knows its key. */
async function arrangeHiddenProject() {
  const people = await world.org();
  const { project } = await people.chloe.projects.create({
    key: 'HID',
    name: 'Secret plans',
    visibility: 'private',
  });
  const eve = await world.member(people.orgId, 'Eve', 'member');
  return { ...people, project, eve, projectId: project.id };
}

describe('projects.requestAccess', () => {
  it('asks for a private project by its id or key, and learns nothing of it but the id', async () => {
    const { orgId, eve, projectId } = await arrangeHiddenProject();
    const asked = await eve.projects.requestAccess({ projectId: 'hid', message: 'Let me in' });
    expect(boardRegistry.projects.requestAccess.result.parse(asked)).toEqual(asked);
    const { accessRequest } = asked;
    expect(accessRequest).toEqual({
      id: accessRequest.id,
      projectId,
      member: { id: eve.me.memberId, name: 'Eve', handle: 'eve' },
      role: 'contributor',
      message: 'Let me in',
      state: 'pending',
      resolvedBy: null,
      resolvedAt: null,
      note: null,
      createdAt: accessRequest.createdAt,
      updatedAt: accessRequest.createdAt,
      version: 1,
    });
    expect(JSON.stringify(asked)).not.toMatch(/Secret|HID/);
    await expect(eve.projects.get({ projectId })).rejects.toMatchObject({ code: 'not_found' });
    expect(await eventsOf(orgId)).toEqual([
      {
        kind: 'access.requested',
        data: { accessRequestId: accessRequest.id, memberId: eve.me.memberId, role: 'contributor' },
        project_id: projectId,
      },
    ]);
  });

  it('answers the request that waits again, as it is, and asks anew a day after it was denied', async () => {
    const { orgId, chloe, eve, projectId } = await arrangeHiddenProject();
    const first = await eve.projects.requestAccess({ projectId });
    expect(await eve.projects.requestAccess({ projectId, role: 'lead', message: 'Please' })).toEqual(first);
    expect(await eventsOf(orgId)).toHaveLength(1);
    await chloe.projects.accessRequests.resolve({
      accessRequestId: first.accessRequest.id,
      decision: 'deny',
    });
    await expect(eve.projects.requestAccess({ projectId, role: 'viewer' })).rejects.toMatchObject({
      status: 409,
      reason: 'already_resolved',
      body: { details: { state: 'denied', retryAt: expect.stringMatching(/Z$/), retryable: true } },
    });
    expect(await eventsOf(orgId)).toHaveLength(2);
    await world.rows(
      `update access_requests set resolved_at = resolved_at - interval '1 day' where org_id = $1`,
      orgId,
    );
    const { accessRequest: second } = await eve.projects.requestAccess({ projectId, role: 'viewer' });
    expect(second).toMatchObject({ role: 'viewer', state: 'pending' });
    expect(second.id).not.toBe(first.accessRequest.id);
  });

  it('is one request, however often it is asked at once', async () => {
    const { orgId, eve, projectId } = await arrangeHiddenProject();
    const outcomes = await world.runUnderContention(
      { table: 'projects', id: projectId },
      ...(['viewer', 'contributor', 'lead'] as const).map(
        (role) => () => eve.projects.requestAccess({ projectId, role }),
      ),
    );
    const ids = outcomes.map((outcome) => outcome.status === 'fulfilled' && outcome.value.accessRequest.id);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toEqual(expect.any(String));
    expect(await eventsOf(orgId)).toHaveLength(1);
    await expect(
      world.rows(
        `insert into access_requests (org_id, id, project_id, member_id, role) values ($1, $2, $3, $4, 'lead')`,
        orgId,
        newId(),
        projectId,
        eve.me.memberId,
      ),
    ).rejects.toMatchObject({ constraint: 'access_requests_pending' });
  });

  it('is not for who has that role, or a higher one, already', async () => {
    const { orgId, ana, chloe, eve, projectId } = await arrangeHiddenProject();
    await arrangeTeam(world, orgId, { members: [eve], projectRole: { projectId, role: 'contributor' } });
    for (const [who, role] of [
      [ana, 'lead'],
      [chloe, 'viewer'],
      [eve, 'contributor'],
    ] as const) {
      await expect(who.projects.requestAccess({ projectId, role })).rejects.toMatchObject({
        status: 409,
        reason: 'already_exists',
      });
    }
    await eve.projects.requestAccess({ projectId, role: 'lead' });
    await arrangeBoard(world, orgId, { key: 'WEB' });
    await expect(eve.projects.requestAccess({ projectId: 'WEB' })).rejects.toMatchObject({
      body: { details: { role: 'contributor' } },
    });
  });

  it('is not for viewers of the organization, nor for a token bound to projects', async () => {
    const { orgId, dan, eve, projectId } = await arrangeHiddenProject();
    await expect(dan.projects.requestAccess({ projectId })).rejects.toMatchObject({ code: 'forbidden' });
    const { projectId: other } = await arrangeBoard(world, orgId, { key: 'WEB' });
    const bound = await world.token(orgId, eve.me.memberId, { projectIds: [other] });
    await expect(bound.projects.requestAccess({ projectId })).rejects.toMatchObject({
      reason: 'bound_token',
    });
    const { ana: stranger } = await world.org();
    for (const nowhere of [projectId, newId(), 'NOPE']) {
      await expect(stranger.projects.requestAccess({ projectId: nowhere })).rejects.toMatchObject({
        code: 'not_found',
      });
    }
  });

  it('is refused for an archived project', async () => {
    const { chloe, eve, projectId } = await arrangeHiddenProject();
    await chloe.projects.update({ projectId, archived: true });
    await expect(eve.projects.requestAccess({ projectId })).rejects.toMatchObject({ reason: 'archived' });
  });
});

describe('projects.accessRequests.list', () => {
  it('shows leads who asked, newest first, page by page, in any state or in one', async () => {
    const { orgId, chloe, eve, projectId } = await arrangeHiddenProject();
    const { projectId: other } = await arrangeBoard(world, orgId, { key: 'OTH', visibility: 'private' });
    const fay = await world.member(orgId, 'Fay', 'member');
    const gus = await world.member(orgId, 'Gus', 'member');
    const asked: string[] = [];
    for (const who of [eve, fay, gus]) {
      await who.projects.requestAccess({ projectId: other });
      asked.push((await who.projects.requestAccess({ projectId })).accessRequest.id);
    }
    const [first = '', second = '', third = ''] = asked;
    const { accessRequest: denied } = await chloe.projects.accessRequests.resolve({
      accessRequestId: second,
      decision: 'deny',
    });
    const list = async (params: object = {}) => chloe.projects.accessRequests.list({ projectId, ...params });
    const ids = async (params: object = {}) => (await list(params)).items.map(({ id }) => id);
    expect(await ids()).toEqual([third, second, first]);
    expect(await ids({ state: 'pending' })).toEqual([third, first]);
    expect((await list({ state: 'denied' })).items).toEqual([denied]);
    expect(await ids({ state: 'approved' })).toEqual([]);
    const page = await list({ limit: 2 });
    expect(await ids({ cursor: page.nextCursor })).toEqual([first]);
    // Requests of removed members cannot be decided any more. Earlier decisions stay.
    await world.rows(
      `update members set status = 'removed' where id = any ($1)`,
      [fay, gus].map(({ me }) => me.memberId),
    );
    expect(await ids()).toEqual([second, first]);
    await expect(eve.projects.accessRequests.list({ projectId })).rejects.toMatchObject({
      code: 'not_found',
    });
    await chloe.projects.members.add({ projectId, memberId: eve.me.memberId, role: 'contributor' });
    await expect(eve.projects.accessRequests.list({ projectId })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });
});

describe('projects.accessRequests.resolve', () => {
  /** Lets Eve request access. */
  async function asked() {
    const people = await arrangeHiddenProject();
    const { accessRequest } = await people.eve.projects.requestAccess({ projectId: people.projectId });
    return { ...people, accessRequest, accessRequestId: accessRequest.id };
  }

  it('lets the member in with the role asked for, and says who decided', async () => {
    const { orgId, chloe, eve, projectId, accessRequest, accessRequestId } = await asked();
    const answer = await chloe.projects.accessRequests.resolve({
      accessRequestId,
      decision: 'approve',
      note: 'Welcome',
    });
    const { accessRequest: resolved } = answer;
    expect(resolved).toEqual({
      ...accessRequest,
      state: 'approved',
      resolvedBy: { kind: 'member', memberId: chloe.me.memberId, agentId: null, name: 'Chloé' },
      resolvedAt: resolved.updatedAt,
      note: 'Welcome',
      updatedAt: resolved.updatedAt,
      version: 2,
    });
    expect((await chloe.projects.accessRequests.list({ projectId })).items).toEqual([resolved]);
    expect((await eve.projects.get({ projectId })).project.myRole).toBe('contributor');
    expect((await eventsOf(orgId)).at(-1)).toEqual({
      kind: 'access.resolved',
      data: { accessRequestId, memberId: eve.me.memberId, decision: 'approve', role: 'contributor' },
      project_id: projectId,
    });
  });

  it('gives another role where one is named, and never lowers the one given before', async () => {
    const { chloe, eve, projectId, accessRequestId } = await asked();
    const { accessRequest } = await chloe.projects.accessRequests.resolve({
      accessRequestId,
      decision: 'approve',
      role: 'viewer',
    });
    expect(accessRequest.role).toBe('viewer');
    expect((await eve.projects.get({ projectId })).project.myRole).toBe('viewer');

    const { accessRequest: again } = await eve.projects.requestAccess({ projectId });
    await chloe.projects.members.add({ projectId, memberId: eve.me.memberId, role: 'lead' });
    const { accessRequest: kept } = await chloe.projects.accessRequests.resolve({
      accessRequestId: again.id,
      decision: 'approve',
    });
    expect(kept.role).toBe('lead');
    expect((await eve.projects.get({ projectId })).project.myRole).toBe('lead');
  });

  it('keeps the member out when it is denied, and takes no role then', async () => {
    const { orgId, chloe, eve, projectId, accessRequestId } = await asked();
    await expect(
      chloe.projects.accessRequests.resolve({ accessRequestId, decision: 'deny', role: 'viewer' }),
    ).rejects.toMatchObject({ status: 400, body: { details: { issues: [{ path: 'role' }] } } });
    const { accessRequest } = await chloe.projects.accessRequests.resolve({
      accessRequestId,
      decision: 'deny',
      note: 'Not now',
    });
    expect(accessRequest).toMatchObject({
      state: 'denied',
      role: 'contributor',
      note: 'Not now',
      version: 2,
    });
    await expect(eve.projects.get({ projectId })).rejects.toMatchObject({ code: 'not_found' });
    expect((await eventsOf(orgId)).at(-1)).toMatchObject({ data: { decision: 'deny', role: 'contributor' } });
  });

  it('is decided once, also by two leads at the same moment', async () => {
    const { orgId, ana, chloe, accessRequestId } = await asked();
    const outcomes = await world.runUnderContention(
      { table: 'access_requests', id: accessRequestId },
      () => ana.projects.accessRequests.resolve({ accessRequestId, decision: 'approve' }),
      () => chloe.projects.accessRequests.resolve({ accessRequestId, decision: 'deny' }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { status: 409, reason: 'already_resolved' },
    });
    expect(await eventsOf(orgId)).toHaveLength(2);
    for (const decision of ['approve', 'deny'] as const) {
      await expect(ana.projects.accessRequests.resolve({ accessRequestId, decision })).rejects.toMatchObject({
        reason: 'already_resolved',
      });
    }
  });

  it('gives somebody who became a viewer of the organization no more than reading', async () => {
    const { chloe, eve, projectId, accessRequestId } = await asked();
    await world.rows(`update members set role = 'viewer' where id = $1`, eve.me.memberId);
    await expect(
      chloe.projects.accessRequests.resolve({ accessRequestId, decision: 'approve' }),
    ).rejects.toMatchObject({ status: 422, body: { details: { unmet: ['viewers_hold_no_seat'] } } });
    await chloe.projects.accessRequests.resolve({ accessRequestId, decision: 'approve', role: 'viewer' });
    expect((await eve.projects.get({ projectId })).project.myRole).toBe('viewer');
  });

  it('knows no request of a member who was removed, also while it waits for that', async () => {
    const { chloe, eve, accessRequestId } = await asked();
    const holder = await world.database.owner.connect();
    await holder.query('begin');
    await holder.query(`update members set status = 'removed' where id = $1`, [eve.me.memberId]);
    const resolving = chloe.projects.accessRequests.resolve({ accessRequestId, decision: 'approve' });
    const refused = expect(resolving).rejects.toMatchObject({ code: 'not_found' });
    await world.waitUntilBlocked(1);
    await holder.query('commit');
    holder.release();
    await refused;
    expect(await world.rows('select from project_members where member_id = $1', eve.me.memberId)).toEqual([]);
  });

  it('is for leads of the project, audited when refused to others, and unknown to who cannot see it', async () => {
    const { orgId, ana, chloe, eve, projectId, accessRequestId } = await asked();
    const { ana: stranger } = await world.org();
    const params = { accessRequestId, decision: 'approve' as const };
    await expect(stranger.projects.accessRequests.resolve(params)).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(eve.projects.accessRequests.resolve(params)).rejects.toMatchObject({ code: 'not_found' });
    await expect(
      chloe.projects.accessRequests.resolve({ ...params, accessRequestId: newId() }),
    ).rejects.toMatchObject({ code: 'not_found' });
    await chloe.projects.members.add({ projectId, memberId: eve.me.memberId, role: 'contributor' });
    await expect(eve.projects.accessRequests.resolve(params)).rejects.toMatchObject({ code: 'forbidden' });
    await chloe.projects.update({ projectId, archived: true });
    await expect(ana.projects.accessRequests.resolve(params)).rejects.toMatchObject({ reason: 'archived' });
    expect(
      await world.rows(
        `select outcome, member_id from audit where org_id = $1 and operation = 'projects.accessRequests.resolve'`,
        orgId,
      ),
    ).toEqual([{ outcome: 'denied', member_id: eve.me.memberId }]);
  });
});
