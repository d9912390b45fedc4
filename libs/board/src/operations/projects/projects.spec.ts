import { describe, expect, it } from '@jest/globals';
import { storyStatuses } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { useWorld } from '@muster/testing';
import { arrangeBoard, noWorkHandlers } from '../../../test/board.ts';
import { epics } from '../epics/handlers.ts';
import { stories } from '../stories/handlers.ts';
import { projects } from './handlers.ts';

const world = useWorld({ projects, epics, stories, inside: noWorkHandlers });

const eventsOf = (orgId: string) =>
  world.rows<{ kind: string; data: unknown }>(
    'select kind, data from activity where org_id = $1 order by seq',
    orgId,
  );

describe('projects.create', () => {
  it('makes a project with the usual board, and its creator the lead', async () => {
    const { orgId, chloe, dan } = await world.org();
    const made = await chloe.projects.create({ key: 'WEB', name: ' Web site ' });
    expect(boardRegistry.projects.create.result.parse(made)).toEqual(made);
    expect(made.project).toMatchObject({
      key: 'WEB',
      name: 'Web site',
      description: null,
      visibility: 'org',
      repository: null,
      origin: 'hosted',
      archivedAt: null,
      myRole: 'lead',
      version: 1,
    });
    expect(made.columns.map(({ name, status, position }) => [name, status, position])).toEqual([
      ['Backlog', 'backlog', 0],
      ['Ready', 'ready', 1],
      ['In progress', 'in_progress', 2],
      ['In review', 'in_review', 3],
      ['Done', 'done', 4],
    ]);
    const seen = await chloe.projects.get({ projectId: 'web' });
    expect(seen).toEqual({ ...made, counts: Object.fromEntries(storyStatuses.map((status) => [status, 0])) });
    expect((await dan.projects.get({ projectId: made.project.id })).project.myRole).toBe('viewer');
    expect((await chloe.stories.create({ projectId: 'WEB', title: 'First' })).story.key).toBe('WEB-1');
    expect((await eventsOf(orgId))[0]).toEqual({ kind: 'project.created', data: {} });
  });

  it('takes columns, a repository and privacy', async () => {
    const { ben, chloe } = await world.org();
    const repository = { provider: 'github' as const, url: 'https://example.com/acme/app' };
    const { project, columns } = await chloe.projects.create({
      key: 'APP',
      name: 'App',
      visibility: 'private',
      repository,
      columns: [
        { name: 'To do', status: 'backlog' },
        { name: 'Doing', status: 'in_progress', wipLimit: 2 },
        { name: 'Done', status: 'done' },
      ],
    });
    expect(project.repository).toEqual({ ...repository, defaultBranch: 'main' });
    expect(columns.map(({ name, wipLimit }) => [name, wipLimit])).toEqual([
      ['To do', null],
      ['Doing', 2],
      ['Done', null],
    ]);
    expect(await chloe.projects.get({ projectId: 'APP' })).toMatchObject({ project, columns });
    expect((await ben.projects.get({ projectId: 'APP' })).project.myRole).toBe('lead');
  });

  it('refuses a key that is taken in the organization, and no other', async () => {
    const { orgId, ana, ben } = await world.org();
    const { ana: other } = await world.org();
    await other.projects.create({ key: 'WEB', name: 'Web' });
    const outcomes = await Promise.allSettled(
      [ana, ben].map((who) => who.projects.create({ key: 'WEB', name: 'Web' })),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(ana.projects.create({ key: 'WEB', name: 'x' })).rejects.toMatchObject({
      status: 409,
      reason: 'already_exists',
    });
    expect(await world.rows('select from projects where org_id = $1', orgId)).toHaveLength(1);
    expect(await world.rows('select from board_columns where org_id = $1', orgId)).toHaveLength(5);
  });

  it('never goes past the limit of the plan, however many ask at once', async () => {
    const { orgId, ana, ben, chloe, robo } = await world.org({ plan: 'free' });
    await ana.projects.create({ key: 'OLD', name: 'Old' });
    await ana.projects.update({ projectId: 'OLD', archived: true });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        ([ana, ben, chloe, robo][n % 4] ?? ana).projects.create({ key: `P${n}`, name: 'x' }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        expect(outcome.reason).toMatchObject({
          status: 422,
          reason: 'limit_exceeded',
          body: { details: { limit: 5, used: 5 } },
        });
      }
    }
    expect(await world.rows('select from projects where org_id = $1', orgId)).toHaveLength(5);
    await ana.projects.delete({ projectId: 'OLD', confirmKey: 'OLD' });
    await ana.projects.create({ key: 'NEW', name: 'New' });
  });

  it('counts what another call is about to add', async () => {
    const { orgId, ana, ben } = await world.org({ plan: 'free' });
    // Every call that adds a project locks the organization's row, so all eight calls wait for that row.
    const outcomes = await world.runUnderContention(
      { table: 'orgs', id: orgId },
      ...Array.from(
        { length: 8 },
        (_, n) => () => (n % 2 === 0 ? ana : ben).projects.create({ key: `P${n}`, name: 'x' }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  });

  it('is not for viewers', async () => {
    const { dan } = await world.org();
    await expect(dan.projects.create({ key: 'WEB', name: 'x' })).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('is not for a token that is bound to projects, which would not reach the new one', async () => {
    const { orgId, chloe } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    for (const projectIds of [[projectId], []]) {
      const bound = await world.token(orgId, chloe.me.memberId, { projectIds });
      await expect(bound.projects.create({ key: 'APP', name: 'x' })).rejects.toMatchObject({
        status: 403,
        reason: 'bound_token',
      });
    }
  });
});

describe('projects.get', () => {
  it('counts by status without looking at stories, canceled ones too', async () => {
    const { orgId, chloe } = await world.org();
    const { projectId } = await arrangeBoard(world, orgId);
    for (const status of ['ready', 'ready', 'done'] as const)
      await chloe.stories.create({ projectId, title: 'x', status });
    await chloe.stories.updateStatus({ storyId: 'WEB-1', status: 'canceled' });
    expect((await chloe.projects.get({ projectId })).counts).toEqual({
      backlog: 0,
      ready: 1,
      in_progress: 0,
      in_review: 0,
      done: 1,
      canceled: 1,
    });
  });
});

describe('projects.list', () => {
  it('shows by key what one may see, with the role there', async () => {
    const { orgId, ana, chloe, dan } = await world.org();
    await arrangeBoard(world, orgId, { key: 'WEB' });
    await arrangeBoard(world, orgId, { key: 'HID', visibility: 'private' });
    const { projectId: old } = await arrangeBoard(world, orgId, { key: 'OLD' });
    await world.rows('update projects set archived_at = now() where id = $1', old);
    const { project: own } = await chloe.projects.create({ key: 'APP', name: 'App', visibility: 'private' });
    const seenBy = async (who: typeof ana, params: object = {}) =>
      (await who.projects.list(params)).items.map(({ key, myRole }) => `${key} ${myRole}`);
    expect(await seenBy(ana)).toEqual(['APP lead', 'HID lead', 'WEB lead']);
    expect(await seenBy(chloe)).toEqual(['APP lead', 'WEB contributor']);
    expect(await seenBy(dan)).toEqual(['WEB viewer']);
    expect(await seenBy(dan, { includeArchived: true })).toEqual(['OLD viewer', 'WEB viewer']);
    const bound = await world.token(orgId, chloe.me.memberId, { projectIds: [own.id] });
    expect(await seenBy(bound, { includeArchived: true })).toEqual(['APP lead']);
    const { items } = await chloe.projects.list({ limit: 1 });
    expect(items).toEqual([own]);
  });

  it('pages by key, and nobody is shown twice or left out while projects come', async () => {
    const { orgId, ana } = await world.org();
    for (const key of ['B1', 'B2', 'BB', 'C1']) await arrangeBoard(world, orgId, { key });
    const first = await ana.projects.list({ limit: 2 });
    await arrangeBoard(world, orgId, { key: 'A1' });
    await arrangeBoard(world, orgId, { key: 'B3' });
    const second = await ana.projects.list({ limit: 2, cursor: first.nextCursor ?? '' });
    const third = await ana.projects.list({ limit: 2, cursor: second.nextCursor ?? '' });
    expect([first, second, third].map(({ items }) => items.map(({ key }) => key))).toEqual([
      ['B1', 'B2'],
      ['B3', 'BB'],
      ['C1'],
    ]);
    expect(third.nextCursor).toBeNull();
    await expect(ana.projects.list({ cursor: 'bm9uZQ' })).rejects.toMatchObject({ status: 400 });
  });

  it('searches names and keys, literally and in any case', async () => {
    const { ana } = await world.org();
    for (const [key, name] of [
      ['WEB', '100% Web'],
      ['APP', 'Web_App'],
      ['TOOLS', 'back\\slash'],
    ] as const) {
      await ana.projects.create({ key, name });
    }
    const found = async (query: string) => (await ana.projects.list({ query })).items.map(({ key }) => key);
    expect(await found('web')).toEqual(['APP', 'WEB']);
    expect(await found('ool')).toEqual(['TOOLS']);
    expect(await found('%')).toEqual(['WEB']);
    expect(await found('_')).toEqual(['APP']);
    expect(await found('\\')).toEqual(['TOOLS']);
    expect(await found('nothing')).toEqual([]);
  });
});

describe('projects.update', () => {
  it('changes what is given, clears what is null, and says which fields', async () => {
    const { orgId, ana, chloe } = await world.org();
    const repository = { provider: 'forgejo' as const, url: 'https://example.com/a', defaultBranch: 'trunk' };
    const { project } = await ana.projects.create({ key: 'WEB', name: 'Web', repository });
    expect((await ana.projects.update({ projectId: 'web', name: 'Web', repository })).project).toEqual(
      project,
    );
    const { project: changed } = await ana.projects.update({
      projectId: 'WEB',
      name: 'Site',
      description: 'The site',
      visibility: 'private',
      repository: null,
      expectedVersion: 1,
    });
    expect(changed).toEqual({
      ...project,
      name: 'Site',
      description: 'The site',
      visibility: 'private',
      repository: null,
      version: 2,
      updatedAt: changed.updatedAt,
    });
    expect((await ana.projects.get({ projectId: 'WEB' })).project).toEqual(changed);
    expect(await eventsOf(orgId)).toEqual([
      { kind: 'project.created', data: {} },
      { kind: 'project.updated', data: { fields: ['name', 'description', 'visibility', 'repository'] } },
    ]);
    await expect(ana.projects.update({ projectId: 'WEB', expectedVersion: 1 })).rejects.toMatchObject({
      reason: 'version_mismatch',
      body: { details: { currentVersion: 2 } },
    });
    const { project: cleared } = await ana.projects.update({ projectId: 'WEB', description: null });
    expect(cleared).toMatchObject({ name: 'Site', description: null, version: 3 });
    expect((await ana.projects.get({ projectId: 'WEB' })).project).toEqual(cleared);
    await expect(chloe.projects.update({ projectId: 'WEB', name: 'x' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('archives and brings back, and while archived takes nothing else', async () => {
    const { orgId, ana, chloe } = await world.org();
    await ana.projects.create({ key: 'WEB', name: 'Web' });
    await expect(chloe.projects.update({ projectId: 'WEB', archived: true })).rejects.toMatchObject({
      code: 'forbidden',
    });
    const { project } = await ana.projects.update({ projectId: 'WEB', archived: true });
    expect(project).toMatchObject({ archivedAt: project.updatedAt, version: 2 });
    for (const params of [{ name: 'x' }, { archived: true }, {}]) {
      await expect(ana.projects.update({ projectId: 'WEB', ...params })).rejects.toMatchObject({
        status: 422,
        reason: 'archived',
      });
    }
    await expect(ana.epics.create({ projectId: 'WEB', title: 'x' })).rejects.toMatchObject({
      reason: 'archived',
    });
    const { project: back } = await ana.projects.update({ projectId: 'WEB', archived: false, name: 'Back' });
    expect(back).toMatchObject({ name: 'Back', archivedAt: null, version: 3 });
    expect((await ana.projects.update({ projectId: 'WEB', archived: false })).project).toEqual(back);
    expect((await eventsOf(orgId)).map(({ kind }) => kind)).toEqual([
      'project.created',
      'project.archived',
      'project.updated',
      'project.unarchived',
    ]);
  });

  it('lets one of two with the same version through', async () => {
    const { ana, ben } = await world.org();
    const { project } = await ana.projects.create({ key: 'WEB', name: 'Web' });
    const outcomes = await world.runUnderContention(
      { table: 'projects', id: project.id },
      () => ana.projects.update({ projectId: 'WEB', name: 'A', expectedVersion: 1 }),
      () => ben.projects.update({ projectId: 'WEB', archived: true, expectedVersion: 1 }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});
