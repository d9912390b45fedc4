import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type InputOf, type Story } from '@muster/contract';
import { type BoardRegistry, boardRegistry } from '@muster/board-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { assignments } from '../assignments/handlers.ts';
import { epics } from '../epics/handlers.ts';
import { projects } from '../projects/handlers.ts';
import { storySpec } from '../storySpec/handlers.ts';
import { stories } from './handlers.ts';

const world = useWorld({ stories, assignments, epics, projects, storySpec });

type Params = InputOf<BoardRegistry['stories']['updateMany']>;

let people: PeopleOf<typeof world>;
let board: TestBoard;
let ana: PersonOf<typeof world>;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
  ana = people.ana;
});

const make = async (params: object = {}) =>
  (await ana.stories.create({ projectId: board.projectId, title: 'x', ...params })).story;
const read = async (storyId: string) => (await ana.stories.get({ storyId })).story;
const update = async (params: Params, who = ana) => (await who.stories.updateMany(params)).results;
const changed = ({ id }: Story, version: number) => ({
  ...{ storyId: id, outcome: 'changed', reason: null, message: null, version },
});
const unchanged = (story: Story, version: number) => ({ ...changed(story, version), outcome: 'unchanged' });
const refused = (storyId: string, reason: string, version: number | null = null) => ({
  ...{ storyId, outcome: 'refused', reason, message: expect.stringMatching(/\.$/), version },
});
const listEvents = async () =>
  (
    await world.rows<{ kind: string }>(
      `select kind from activity where org_id = $1 and kind not in ('story.created', 'epic.created') order by seq`,
      people.orgId,
    )
  ).map(({ kind }) => kind);

describe('stories.updateMany', () => {
  it('makes one change to stories of several projects, in the given order', async () => {
    const other = await arrangeBoard(world, people.orgId, { key: 'APP' });
    const one = await make({ labels: ['Old', 'kept'] });
    const two = await make({ projectId: other.projectId, priority: 'high', dueDate: '2027-01-31' });
    const answer = await people.chloe.stories.updateMany({
      storyIds: ['app-1', one.id],
      set: {
        priority: 'high',
        dueDate: '2027-01-31',
        addLabels: ['Kept', 'new'],
        removeLabels: ['old', 'KEPT'],
      },
    });
    expect(boardRegistry.stories.updateMany.result.parse(answer)).toEqual(answer);
    expect(answer.results).toEqual([changed(two, 2), changed(one, 2)]);
    expect(await read(one.id)).toMatchObject({
      ...{ priority: 'high', dueDate: '2027-01-31', labels: ['kept', 'new'] },
    });
    expect(await read(two.id)).toMatchObject({ labels: ['Kept', 'new'] });
    await update({ storyIds: [one.id], set: { priority: null, dueDate: null } });
    expect(await read(one.id)).toMatchObject({ priority: 'none', dueDate: null });
  });

  it('moves, edits and assigns a story in one transaction, and leaves one audit entry per changed story', async () => {
    const { epic } = await ana.epics.create({ projectId: board.projectId, title: 'Sign-in' });
    const [one, two] = [await make(), await make()];
    const set: Params['set'] = {
      ...{ epicId: epic.id, assigneeId: '@ben', agentId: people.robo.me.agentId },
      status: 'ready',
    };
    const storyIds = [one.id, two.id];
    expect(await update({ storyIds, set })).toEqual([changed(one, 3), changed(two, 3)]);
    const after = await Promise.all(storyIds.map(read));
    expect(after).toMatchObject([
      { status: 'ready', columnId: board.columns.ready, epicId: epic.id },
      { status: 'ready' },
    ]);
    expect((after[0]?.rank ?? '') < (after[1]?.rank ?? '')).toBe(true);
    expect((await ana.assignments.listForProject({ projectId: 'WEB' })).items).toMatchObject([
      { targetId: two.id, member: { handle: 'ben' }, agent: { id: people.robo.me.agentId } },
      { targetId: one.id },
    ]);
    const each = ['story.statusChanged', 'story.updated', 'assignment.changed'];
    expect(await listEvents()).toEqual([...each, ...each]);

    expect(await update({ storyIds, set })).toEqual([unchanged(one, 3), unchanged(two, 3)]);
    expect(await listEvents()).toHaveLength(6);
    expect(await update({ storyIds: [one.id], set: { assigneeId: null } })).toEqual([changed(one, 3)]);
    expect(
      await world.rows(
        `select target from audit where org_id = $1 and operation = 'stories.updateMany' order by seq`,
        people.orgId,
      ),
    ).toEqual([one, two, one].map(({ id }) => ({ target: id })));
  });

  it('moves stories to a column, and leaves those in it where they are', async () => {
    const columnId = board.columns.ready;
    const [there, last] = [await make({ status: 'ready' }), await make({ status: 'ready' })];
    const moved = await make();
    expect(await update({ storyIds: [there.id, moved.id], set: { columnId } })).toEqual([
      unchanged(there, 1),
      changed(moved, 2),
    ]);
    const { items } = await ana.stories.list({ projectId: 'WEB', columnId });
    expect(items.map(({ id }) => id)).toEqual([there.id, last.id, moved.id]);
    const wrong = { status: 'done', columnId } as const;
    expect(await update({ storyIds: [moved.id], set: wrong })).toEqual([
      refused(moved.id, 'invalid_transition'),
    ]);
  });

  it('refuses stories with the reasons of the single operations, and changes the others', async () => {
    const hidden = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
    const old = await arrangeBoard(world, people.orgId, { key: 'OLD' });
    const { epic } = await ana.epics.create({ projectId: board.projectId, title: 'Sign-in' });
    const secret = await make({ projectId: hidden.projectId });
    const archived = await make({ projectId: old.projectId });
    await world.rows('update projects set archived_at = now() where id = $1', old.projectId);
    const story = await make();
    const nowhere = newId();
    const storyIds = [secret.id, archived.id, nowhere, 'WEB-99', story.id];
    expect(await update({ storyIds, set: { epicId: epic.id, status: 'ready' } }, people.chloe)).toEqual([
      refused(secret.id, 'not_found'),
      refused(archived.id, 'mismatched_project'),
      refused(nowhere, 'not_found'),
      refused('WEB-99', 'not_found'),
      changed(story, 3),
    ]);
    expect(await update({ storyIds: [secret.id], set: { epicId: epic.id, status: 'ready' } })).toEqual([
      refused(secret.id, 'mismatched_project'),
    ]);
    expect(await update({ storyIds: [archived.id], set: { priority: 'low' } })).toEqual([
      refused(archived.id, 'archived'),
    ]);
    // The refused story was not moved either.
    expect(await read(secret.id)).toEqual(secret);
    await expect(
      update({ storyIds: [story.id], set: { priority: 'low' } }, people.dan),
    ).rejects.toMatchObject({ status: 403 });
  });

  it('lets only stories of the expected version and with room for the labels pass', async () => {
    const [one, two, full] = [
      await make(),
      await make(),
      await make({ labels: Array.from({ length: 20 }, (_, nth) => `label ${nth}`) }),
    ];
    await ana.stories.update({ storyId: two.id, title: 'y' });
    const storyIds = [one.id, two.id, full.id];
    const expectedVersions = { [one.id]: 1, [two.id]: 1 };
    expect(await update({ storyIds, expectedVersions, set: { addLabels: ['new'] } })).toEqual([
      changed(one, 2),
      refused(two.id, 'version_mismatch', 2),
      refused(full.id, 'limit_exceeded'),
    ]);
    await expect(
      update({ storyIds: [one.id], expectedVersions, set: { priority: 'low' } }),
    ).rejects.toMatchObject({ status: 400, body: { details: { issues: [{ path: 'expectedVersions' }] } } });
    expect(
      await update({ storyIds: [one.key], expectedVersions: { [one.id]: 1 }, set: { priority: 'low' } }),
    ).toEqual([refused(one.key, 'version_mismatch', 2)]);
    await expect(update({ storyIds: [one.id], set: {} })).rejects.toMatchObject({ status: 400 });
    await expect(update({ storyIds: [one.id], set: { assigneeId: '@nobody' } })).rejects.toMatchObject({
      status: 404,
      body: { details: { path: 'set.assigneeId' } },
    });
  });

  it('asks the gates of each story for a change of status', async () => {
    people = await world.org({ policy: { requireSpecToStart: true } });
    board = await arrangeBoard(world, people.orgId);
    ana = people.ana;
    const [bare, specified] = [await make(), await make({ spec: 'Do it.' })];
    expect(await update({ storyIds: [bare.id, specified.id], set: { status: 'in_progress' } })).toEqual([
      refused(bare.id, 'policy'),
      changed(specified, 2),
    ]);
  });

  it('answers a repetition with the first response, and changes nothing again', async () => {
    const story = await make();
    const storyIds = [story.id, 'WEB-99'];
    const call = () =>
      ana.stories.updateMany({ storyIds, set: { priority: 'high' } }, { idempotencyKey: 'k' });
    const first = await call();
    expect(first.results).toEqual([changed(story, 2), refused('WEB-99', 'not_found')]);
    await ana.stories.update({ storyId: story.id, priority: 'low' });
    expect(await call()).toEqual(first);
    expect(await read(story.id)).toMatchObject({ priority: 'low', version: 3 });
  });
});
