/** Tests the structure of stories: parents and children, the files that the work touches, and due dates. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type People, type Person, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { stories } from './handlers.ts';

const world = useWorld({ stories });

let people: People;
let board: TestBoard;
let ana: Person;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
  ana = people.ana;
});

const make = async (params: object = {}) =>
  (await ana.stories.create({ projectId: board.projectId, title: 'x', ...params })).story;
const read = async (storyId: string) => (await ana.stories.get({ storyId })).story;
const changedFields = async () =>
  (
    await world.rows<{ data: { fields: string[] } }>(
      `select data from activity where org_id = $1 and kind = 'story.updated' order by seq`,
      people.orgId,
    )
  ).map(({ data }) => data.fields);

describe('a story with a parent, touched files and a due date', () => {
  it('is created with them, and shows them everywhere', async () => {
    const parent = await make();
    const child = await make({
      parentId: '#web-1',
      dueDate: '2028-02-29',
      touches: ['./src/auth/', 'src//auth', 'docs/cafe\u0301/**', 'name:db'],
    });
    expect(child).toMatchObject({
      parentId: parent.id,
      dueDate: '2028-02-29',
      touches: ['src/auth', 'docs/caf\u00e9/**', 'name:db'],
    });
    expect(parent).toMatchObject({ parentId: null, dueDate: null, touches: [] });
    expect(await read(child.id)).toEqual(child);
    const { description: _, ...summary } = child;
    expect((await ana.stories.list({ projectId: 'WEB' })).items).toContainEqual(summary);
  });

  it('changes them one by one, and loses each by null', async () => {
    const [one, two] = [await make(), await make()];
    const { id } = await make({ parentId: one.id });
    const { story } = await ana.stories.update({
      storyId: id,
      parentId: two.key,
      dueDate: '2027-01-31',
      touches: ['a', 'b/'],
      expectedVersion: 1,
    });
    expect(story).toMatchObject({ parentId: two.id, dueDate: '2027-01-31', touches: ['a', 'b'], version: 2 });
    const same = { storyId: id, parentId: two.id, dueDate: '2027-01-31', touches: ['./a', 'b'] };
    expect((await ana.stories.update(same)).story).toEqual(story);
    const { story: cleared } = await ana.stories.update({
      ...{ storyId: id, parentId: null, dueDate: null, touches: null },
    });
    expect(cleared).toMatchObject({ parentId: null, dueDate: null, touches: [], version: 3 });
    expect(await read(id)).toEqual(cleared);
    expect(await changedFields()).toEqual([
      ['dueDate', 'touches', 'parentId'],
      ['dueDate', 'touches', 'parentId'],
    ]);
  });

  it('is refused with resources that cannot be locked, and with days that do not exist', async () => {
    const { id } = await make();
    for (const touches of [
      ['ok', '/etc'],
      ['ok', 'src\\auth'],
      ['ok', 'a/../b'],
      ['ok', ' a'],
      ['ok', '['],
    ]) {
      for (const call of [() => make({ touches }), () => ana.stories.update({ storyId: id, touches })])
        await expect(call()).rejects.toMatchObject({
          code: 'bad_request',
          body: { details: { issues: [{ path: expect.stringMatching(/^touches\W1\W?$/) }] } },
        });
    }
    const tooMany = Array.from({ length: 51 }, (_, index) => `f${index}`);
    for (const params of [
      { touches: tooMany },
      { dueDate: '2027-02-29' },
      { dueDate: '2027-02-01T00:00:00Z' },
    ])
      await expect(make(params)).rejects.toMatchObject({ code: 'bad_request' });
    expect((await make({ touches: tooMany.slice(0, 50) })).touches).toHaveLength(50);
  });
});

describe('the parent of a story', () => {
  it('is another story, and neither has a parent nor is a child of the same story', async () => {
    const parent = await make();
    const child = await make({ parentId: parent.id });
    const other = await make();
    await expect(make({ parentId: child.id })).rejects.toMatchObject({ reason: 'nested_parent' });
    const setParent = (storyId: string, parentId: string) => ana.stories.update({ storyId, parentId });
    await expect(setParent(other.id, other.key)).rejects.toMatchObject({ reason: 'nested_parent' });
    await expect(setParent(other.id, child.id)).rejects.toMatchObject({
      reason: 'nested_parent',
      body: { details: { parentId: child.id, parentOfParent: parent.id } },
    });
    await expect(setParent(parent.id, child.id)).rejects.toMatchObject({ reason: 'nested_parent' });
    await expect(setParent(parent.id, other.id)).rejects.toMatchObject({
      reason: 'has_children',
      body: { details: { children: [child.key] } },
    });
    // Without its child, the story can be a child itself.
    await ana.stories.update({ storyId: child.id, parentId: null });
    expect((await setParent(parent.id, other.id)).story.parentId).toBe(other.id);
  });

  it('belongs to the same project', async () => {
    const { id } = await make();
    const other = await arrangeBoard(world, people.orgId, { key: 'API' });
    const hidden = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
    const { story: elsewhere } = await ana.stories.create({ projectId: other.projectId, title: 'x' });
    const { story: secret } = await ana.stories.create({ projectId: hidden.projectId, title: 'x' });
    const calls = (parentId: string) => [
      () => people.chloe.stories.update({ storyId: id, parentId, expectedVersion: 9 }),
      () => people.chloe.stories.create({ projectId: 'WEB', title: 'x', parentId }),
    ];
    for (const parentId of [elsewhere.id, elsewhere.key])
      for (const call of calls(parentId))
        await expect(call()).rejects.toMatchObject({ reason: 'mismatched_project' });
    for (const parentId of [secret.id, secret.key, newId(), 'WEB-99'])
      for (const call of calls(parentId))
        await expect(call()).rejects.toMatchObject({
          code: 'not_found',
          body: { details: { path: 'parentId' } },
        });
    expect(await changedFields()).toEqual([]);
  });

  it('cannot become a child in a call at the same time', async () => {
    const [one, two, three] = [await make(), await make(), await make()];
    // A write locks the row of streams last, so both calls have begun before either of them can commit.
    const outcomes = await world.runUnderContention(
      { table: 'streams', id: people.orgId, column: 'org_id' },
      () => ana.stories.update({ storyId: one.id, parentId: two.id }),
      () => people.ben.stories.update({ storyId: two.id, parentId: three.id }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const [free, other] = [await make(), await make()];
    const creating = await world.runUnderContention(
      { table: 'streams', id: people.orgId, column: 'org_id' },
      () => ana.stories.create({ projectId: 'WEB', title: 'x', parentId: free.id }),
      () => people.ben.stories.update({ storyId: free.id, parentId: other.id }),
    );
    expect(creating.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const nested = await world.rows(
      `select s.id from stories s join stories p on p.org_id = s.org_id and p.id = s.parent_id
       where s.org_id = $1 and p.parent_id is not null`,
      people.orgId,
    );
    expect(nested).toEqual([]);
  });

  it('leaves its children behind when it is deleted', async () => {
    const parent = await make();
    const child = await make({ parentId: parent.id });
    const unrelated = await make();
    await ana.stories.delete({ storyId: parent.id });
    const left = await read(child.id);
    expect(left).toEqual({ ...child, parentId: null, version: 2, updatedAt: left.updatedAt });
    expect(await read(unrelated.id)).toEqual(unrelated);
  });
});
