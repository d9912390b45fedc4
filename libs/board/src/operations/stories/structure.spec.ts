/** Tests the structure of stories: parents and children, the files that the work touches, and due dates. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type Policy } from '@muster/contract';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { stories } from './handlers.ts';

const world = useWorld({ stories });

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

  it('must not be waited for by its children', async () => {
    const [parent, between] = [await make(), await make()];
    const child = await make({ parentId: parent.id });
    await ana.stories.update({ storyId: between.id, blockedBy: [parent.id] });
    const circle = { reason: 'blocking_circle' };
    for (const blocker of [parent, between]) {
      const blockedBy = [blocker.id];
      await expect(ana.stories.update({ storyId: child.id, blockedBy })).rejects.toMatchObject(circle);
      await expect(make({ parentId: parent.id, blockedBy })).rejects.toMatchObject(circle);
      const { id } = await make({ blockedBy });
      const reparent = ana.stories.update({ storyId: id, parentId: parent.id });
      await expect(reparent).rejects.toMatchObject(circle);
    }
    // A parent may wait for its child explicitly, and a story may wait for the parent that it leaves.
    await ana.stories.update({ storyId: parent.id, blockedBy: [child.id] });
    await ana.stories.update({ storyId: parent.id, blockedBy: null });
    const { story } = await ana.stories.update({
      ...{ storyId: child.id, parentId: null, blockedBy: [between.id] },
    });
    expect(story).toMatchObject({ parentId: null, blockedBy: [between.id] });
  });

  it('leaves its children behind when it is deleted', async () => {
    const parent = await make();
    const child = await make({ parentId: parent.id });
    const unrelated = await make();
    await ana.stories.delete({ storyId: parent.id });
    const left = await read(child.id);
    expect(left).toEqual({ ...child, parentId: null, version: 2, updatedAt: left.updatedAt });
    expect(await read(unrelated.id)).toEqual(unrelated);
    expect(await changedFields()).toEqual([['parentId']]);
  });
});

describe('the parent of finished stories', () => {
  const arrangeOpenParent = async (policy: Partial<Policy> = { closeParents: true }) => {
    people = await world.org({ policy });
    board = await arrangeBoard(world, people.orgId);
    ana = people.ana;
    const parent = await make({ status: 'in_progress' });
    const children = [await make({ parentId: parent.id }), await make({ parentId: parent.id })] as const;
    return { parent, children };
  };
  const move = (storyId: string, status: 'done' | 'canceled' | 'backlog') =>
    ana.stories.updateStatus({ storyId, status });

  it('stays open by default', async () => {
    const { parent, children } = await arrangeOpenParent({});
    for (const { id } of children) expect((await move(id, 'done')).warnings).toEqual([]);
    expect(await read(parent.id)).toEqual(parent);
  });

  it('moves to done behind the last one if the policy says so', async () => {
    const { parent, children } = await arrangeOpenParent();
    const [one, two] = children;
    await move(one.id, 'done');
    expect(await read(parent.id)).toEqual(parent);
    const { story, warnings } = await ana.stories.reorder({ storyId: two.id, columnId: board.columns.done });
    expect(warnings).toEqual([]);
    const closed = await read(parent.id);
    expect(closed).toMatchObject({
      status: 'done',
      columnId: board.columns.done,
      version: parent.version + 1,
    });
    expect(closed.rank > story.rank).toBe(true);
    expect(
      await world.rows(
        `select story_id, data ->> 'to' as status from activity where org_id = $1 and kind = 'story.statusChanged' order by seq`,
        people.orgId,
      ),
    ).toEqual([one.id, two.id, parent.id].map((id) => ({ story_id: id, status: 'done' })));
    // A child that is reopened and finished again finds its parent done.
    await move(two.id, 'backlog');
    await move(two.id, 'done');
    expect(await read(parent.id)).toEqual(closed);
  });

  it('may be done before its children, with a warning', async () => {
    const { parent, children } = await arrangeOpenParent();
    const { warnings } = await move(parent.id, 'done');
    const keys = children.map(({ key }) => key).join(', ');
    expect(warnings).toMatchObject([{ code: 'has_children', message: expect.stringContaining(keys) }]);
  });

  it('needs a child that is done, not only canceled ones', async () => {
    const { parent, children } = await arrangeOpenParent();
    const [one, two] = children;
    await move(one.id, 'canceled');
    await move(two.id, 'canceled');
    expect(await read(parent.id)).toEqual(parent);
    await move(one.id, 'backlog');
    await move(one.id, 'done');
    expect(await read(parent.id)).toMatchObject({ status: 'done' });
  });

  it('stays open with a warning if its own gates refuse it', async () => {
    const { parent, children } = await arrangeOpenParent({ closeParents: true, requiredApprovals: 1 });
    await world.rows(
      `update stories set status = 'done', column_id = $2, completed_at = now() where id = $1`,
      children[0].id,
      board.columns.done,
    );
    // Canceling needs no approval, so the parent's own move is the only one that is refused.
    const { warnings } = await move(children[1].id, 'canceled');
    expect(warnings).toEqual([
      {
        code: 'parent_open',
        message: expect.stringMatching(/WEB-1 .*requiredApprovals/),
        columnId: board.columns.in_progress,
      },
    ]);
    expect(await read(parent.id)).toEqual(parent);
  });

  it.each([
    ['deleted', (storyId: string) => ana.stories.delete({ storyId })],
    ['removed', (storyId: string) => ana.stories.update({ storyId, parentId: null })],
    [
      'given to another parent',
      async (storyId: string) => ana.stories.update({ storyId, parentId: (await make()).id }),
    ],
  ])('moves to done when its last open child is %s', async (_name, leave) => {
    const { parent, children } = await arrangeOpenParent();
    const [one, two] = children;
    const three = await make({ parentId: parent.id });
    await move(one.id, 'done');
    await leave(two.id);
    expect(await read(parent.id)).toEqual(parent);
    await leave(three.id);
    expect(await read(parent.id)).toMatchObject({ status: 'done', version: parent.version + 1 });
  });

  it('stays open without a child that is done, and when a finished child leaves', async () => {
    const { parent, children } = await arrangeOpenParent();
    const [one, two] = children;
    await move(one.id, 'canceled');
    await ana.stories.delete({ storyId: two.id });
    expect(await read(parent.id)).toEqual(parent);
    await ana.stories.delete({ storyId: one.id });
    expect(await read(parent.id)).toEqual(parent);
    const [three, four] = [await make({ parentId: parent.id }), await make({ parentId: parent.id })];
    await move(three.id, 'done');
    await move(four.id, 'done');
    await move(parent.id, 'backlog');
    await ana.stories.delete({ storyId: four.id });
    expect(await read(parent.id)).toMatchObject({ status: 'backlog' });
  });

  it.each([
    ['finishes', (storyId: string) => move(storyId, 'done')],
    ['cancels', (storyId: string) => move(storyId, 'canceled')],
    ['drags', (storyId: string) => ana.stories.reorder({ storyId, columnId: board.columns.done })],
    ['deletes', (storyId: string) => ana.stories.delete({ storyId })],
    ['detaches', (storyId: string) => ana.stories.update({ storyId, parentId: null })],
  ])('has its column locked before the child, by a call that %s the child', async (_name, call) => {
    const { parent, children } = await arrangeOpenParent();
    const [one, two] = children;
    await move(one.id, 'done');
    const holder = await world.database.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select from board_columns where id = $1 for update', [parent.columnId]);
      const calling = call(two.id);
      await world.waitUntilBlocked(1);
      const { rowCount } = await holder.query('select from stories where id = $1 for update skip locked', [
        two.id,
      ]);
      await holder.query('rollback');
      await calling;
      expect(rowCount).toBe(1);
    } finally {
      // Closes the connection, because a failed query leaves its transaction open.
      holder.release(true);
    }
    expect(await read(parent.id)).toMatchObject({ status: 'done' });
  });

  it('is closed by one of two calls that finish the last two at the same time', async () => {
    const { parent, children } = await arrangeOpenParent();
    const outcomes = await world.runUnderContention(
      { table: 'streams', id: people.orgId, column: 'org_id' },
      ...children.map(
        ({ id }) =>
          () =>
            move(id, 'done'),
      ),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(await read(parent.id)).toMatchObject({ status: 'done' });
  });
});

describe('stories.get', () => {
  it('shows the parent, the children, and the dependencies in both directions', async () => {
    const linkOf = ({ id, key, title, status }: Awaited<ReturnType<typeof make>>) => ({
      id,
      key,
      title,
      status,
    });
    const parent = await make({ title: 'Parent' });
    const [one, two] = [
      await make({ parentId: parent.id }),
      await make({ parentId: parent.id, status: 'done' }),
    ];
    await ana.stories.update({ storyId: two.id, blockedBy: [one.id] });
    expect(await ana.stories.get({ storyId: parent.id })).toMatchObject({
      ...{ parent: null, children: [linkOf(one), linkOf(two)], blockedBy: [], blocks: [] },
    });
    expect(await ana.stories.get({ storyId: one.id })).toMatchObject({
      ...{ parent: linkOf(parent), children: [], blockedBy: [], blocks: [linkOf(two)] },
    });
    expect(await ana.stories.get({ storyId: two.id })).toMatchObject({
      ...{ parent: linkOf(parent), children: [], blockedBy: [linkOf(one)], blocks: [] },
    });
    const { items } = await ana.stories.list({ projectId: 'WEB', parentId: parent.key });
    expect(items.map(({ id }) => id)).toEqual([one.id, two.id]);
    expect((await ana.stories.list({ projectId: 'WEB', parentId: one.id, sort: 'updated' })).items).toEqual(
      [],
    );
  });
});
