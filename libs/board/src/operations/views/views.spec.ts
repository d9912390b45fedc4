import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type InputOf, type ProjectRole, type View } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { maxViewsOfMember } from '../../data/views.ts';
import { views } from './handlers.ts';

const world = useWorld({ views });

let people: PeopleOf<typeof world>;
let board: TestBoard;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
});

type Draft = Partial<InputOf<typeof boardRegistry.views.create>>;
const save = async (who: PersonOf<typeof world>, draft: Draft = {}): Promise<View> =>
  (await who.views.create({ name: 'Mine', layout: 'list', ...draft })).view;
const namesFor = async (who: PersonOf<typeof world>, projectId?: string): Promise<string[]> =>
  (await who.views.list({ projectId })).items.map(({ name }) => name);
const giveRole = (who: PersonOf<typeof world>, role: ProjectRole) =>
  world.rows(
    `insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, $4)
     on conflict (org_id, project_id, member_id) do update set role = excluded.role`,
    ...[people.orgId, board.projectId, who.me.memberId, role],
  );
const forbidden = { status: 403 };

describe('views.create', () => {
  it('saves what the caller chose, with defaults for the rest', async () => {
    const { chloe } = people;
    const filter = { status: ['ready', 'in_progress'], assigneeId: 'me', hasOpenBlockers: false } as const;
    const view = await save(chloe, {
      ...{ projectId: 'web', name: 'Now', layout: 'table', groupBy: 'epic', sort: 'dueDate' },
      ...{ columns: ['title', 'dueDate'], filter: { ...filter, status: [...filter.status] } },
    });
    expect(view).toEqual({
      ...{ id: expect.any(String), projectId: board.projectId, name: 'Now', layout: 'table' },
      ...{ filter, groupBy: 'epic', sort: 'dueDate', columns: ['title', 'dueDate'], shared: false },
      owner: { id: chloe.me.memberId, name: 'Chloé', handle: expect.any(String) },
      ...{ createdAt: expect.any(String), updatedAt: view.createdAt, version: 1 },
    });
    expect(await save(chloe)).toMatchObject({
      ...{ projectId: null, filter: {}, groupBy: null, sort: 'board', columns: [], shared: false },
    });
    expect((await chloe.views.list({ projectId: 'WEB' })).items).toEqual([view]);
  });

  it('keeps alternatives and states in its filter', async () => {
    const filter = {
      ...{ assigneeId: ['me', 'none'], label: ['bug', 'ops'], state: ['overdue', 'dueSoon'] as const },
    };
    const view = await save(people.chloe, {
      ...{ groupBy: 'project', filter: { ...filter, state: [...filter.state] } },
    });
    expect(view).toMatchObject({ groupBy: 'project', filter });
    const invalid = [
      { label: [] },
      { state: ['other'] },
      { assigneeId: Array.from({ length: 51 }, () => 'me') },
    ];
    for (const one of invalid)
      await expect(save(people.chloe, { filter: one as never })).rejects.toMatchObject({ status: 400 });
  });

  it('refuses records in its filter that the caller may not see, and takes those that are there', async () => {
    const { chloe } = people;
    const columnId = board.columns.ready;
    const view = await save(chloe, { filter: { columnId } });
    expect(view.filter).toEqual({ columnId });
    const foreign = await arrangeBoard(world, (await world.org()).orgId);
    const unknown = newId();
    for (const filter of [{ columnId: foreign.columns.ready }, { epicId: unknown }, { parentId: 'WEB-99' }]) {
      const missing = { status: 404, body: { details: { path: `filter.${Object.keys(filter)[0]}` } } };
      await expect(save(chloe, { filter })).rejects.toMatchObject(missing);
      await expect(chloe.views.update({ viewId: view.id, filter })).rejects.toMatchObject(missing);
    }
  });

  it('lets leads share in their project, and admins in the organization', async () => {
    const { ana, chloe, dan } = people;
    await expect(save(chloe, { projectId: 'WEB', shared: true })).rejects.toMatchObject(forbidden);
    await expect(save(chloe, { shared: true })).rejects.toMatchObject(forbidden);
    await giveRole(chloe, 'lead');
    await save(chloe, { name: 'Of the project', projectId: 'WEB', shared: true });
    await expect(save(chloe, { shared: true })).rejects.toMatchObject(forbidden);
    await save(ana, { name: 'Of all', shared: true });
    await save(ana, { name: 'Private' });
    expect(await namesFor(dan)).toEqual(['Of the project', 'Of all']);
    expect(await namesFor(dan, 'WEB')).toEqual(['Of the project']);
    expect(await namesFor((await world.org()).ana)).toEqual([]);
  });

  it('keeps a project secret from those who may not see it, and takes no more than the limit', async () => {
    const { ana, chloe } = people;
    await save(ana, { projectId: 'WEB', shared: true });
    await world.rows(`update projects set visibility = 'private' where id = $1`, board.projectId);
    await expect(save(chloe, { projectId: 'WEB' })).rejects.toMatchObject({ status: 404 });
    await expect(chloe.views.list({ projectId: 'WEB' })).rejects.toMatchObject({ status: 404 });
    expect(await namesFor(chloe)).toEqual([]);
    await world.rows(
      `insert into views (org_id, id, owner_id, name, layout, filter, sort, columns, shared)
       select $1, gen_random_uuid(), $2, 'v' || i, 'list', '{}', 'board', '{}', false from generate_series(1, $3::int) i`,
      ...[people.orgId, chloe.me.memberId, maxViewsOfMember],
    );
    await expect(save(chloe)).rejects.toMatchObject({
      status: 422,
      body: { details: { reason: 'limit_exceeded', limit: maxViewsOfMember } },
    });
  });
});

describe('views.update and views.delete', () => {
  it('changes what is given, and refuses a version that is out of date', async () => {
    const { chloe } = people;
    const view = await save(chloe, { groupBy: 'label', filter: { label: 'auth' } });
    const changes = { viewId: view.id, name: 'Other', groupBy: null, filter: {} };
    const { view: changed } = await chloe.views.update({ ...changes, expectedVersion: 1 });
    expect(changed).toEqual({
      ...{ ...view, name: 'Other', groupBy: null, filter: {} },
      ...{ updatedAt: expect.any(String), version: 2 },
    });
    expect((await chloe.views.update(changes)).view).toEqual(changed);
    await expect(chloe.views.update({ ...changes, expectedVersion: 1 })).rejects.toMatchObject({
      body: { details: { reason: 'version_mismatch', currentVersion: 2 } },
    });
  });

  it('leaves private views to their authors, also from admins, and shared ones to leads and admins', async () => {
    const { ana, chloe, dan } = people;
    const own = await save(chloe, { projectId: 'WEB' });
    const rename = (who: PersonOf<typeof world>, viewId: string) =>
      who.views.update({ viewId, name: 'Renamed' });
    await expect(rename(ana, own.id)).rejects.toMatchObject({ status: 404 });
    await expect(ana.views.delete({ viewId: own.id })).rejects.toMatchObject({ status: 404 });
    await expect(chloe.views.update({ viewId: own.id, shared: true })).rejects.toMatchObject(forbidden);
    await giveRole(chloe, 'lead');
    await chloe.views.update({ viewId: own.id, shared: true });
    await giveRole(chloe, 'viewer');
    await expect(rename(dan, own.id)).rejects.toMatchObject(forbidden);
    await expect(dan.views.delete({ viewId: own.id })).rejects.toMatchObject(forbidden);
    // An author who is no lead any more can take back what was shared, and then delete it.
    await expect(rename(chloe, own.id)).rejects.toMatchObject(forbidden);
    await expect(chloe.views.delete({ viewId: own.id })).rejects.toMatchObject(forbidden);
    await chloe.views.update({ viewId: own.id, shared: false });
    await chloe.views.delete({ viewId: own.id });
    await expect(chloe.views.delete({ viewId: own.id })).rejects.toMatchObject({ status: 404 });
  });

  it('leaves what is shared with the organization alone by tokens that are bound to projects', async () => {
    const { ana } = people;
    const bound = await world.token(people.orgId, ana.me.memberId, {
      ...{ scopes: ['admin'], projectIds: [board.projectId] },
    });
    const { id: viewId } = await save(ana, { shared: true });
    const boundToken = { status: 403, body: { details: { reason: 'bound_token' } } };
    await expect(save(bound, { shared: true })).rejects.toMatchObject(boundToken);
    await expect(bound.views.update({ viewId, shared: false })).rejects.toMatchObject(boundToken);
    await expect(bound.views.delete({ viewId })).rejects.toMatchObject(boundToken);
    await save(bound, { projectId: 'WEB', shared: true });
  });

  it('goes with its project', async () => {
    const { ana } = people;
    await save(ana, { projectId: 'WEB' });
    await world.rows('delete from projects where id = $1', board.projectId);
    expect(await namesFor(ana)).toEqual([]);
  });
});
