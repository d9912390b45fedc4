/** Tests stories.search: the stories of all projects. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type InputOf } from '@muster/contract';
import { type BoardRegistry, boardRegistry } from '@muster/board-registry';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { assignments } from '../assignments/handlers.ts';
import { stories } from './handlers.ts';

const world = useWorld({ stories, assignments });

type Params = InputOf<BoardRegistry['stories']['search']>;

let people: PeopleOf<typeof world>;
let web: TestBoard;
let app: TestBoard;
let hiddenBoard: TestBoard;
let archivedBoard: TestBoard;
beforeEach(async () => {
  people = await world.org();
  [web, app, hiddenBoard, archivedBoard] = [
    await arrangeBoard(world, people.orgId),
    await arrangeBoard(world, people.orgId, { key: 'APP' }),
    await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' }),
    await arrangeBoard(world, people.orgId, { key: 'OLD' }),
  ];
});

const createStory = async ({ projectId }: TestBoard, params: object = {}) =>
  (await people.ana.stories.create({ projectId, title: 'x', ...params })).story;
const search = async (params: Params = {}, who = people.chloe) => (await who.stories.search(params)).items;
const searchKeys = async (params: Params = {}, who = people.chloe) =>
  (await search(params, who)).map(({ key }) => key);
const archive = ({ projectId }: TestBoard) =>
  world.rows('update projects set archived_at = now() where id = $1', projectId);

/** Reads all pages of the given size. */
async function readAll(params: Params, limit: number): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page: Awaited<ReturnType<PeopleOf<typeof world>['ana']['stories']['search']>> =
      await people.chloe.stories.search({
        ...{ ...params, limit },
        ...(cursor !== undefined && { cursor }),
      });
    found.push(...page.items.map(({ key }) => key));
    cursor = page.nextCursor;
  }
  return found;
}

describe('stories.search', () => {
  it('lists cards of all projects that the caller may see and that are not archived', async () => {
    for (const board of [web, app, hiddenBoard, archivedBoard]) await createStory(board);
    await archive(archivedBoard);
    const answer = await people.chloe.stories.search({});
    expect(boardRegistry.stories.search.result.parse(answer)).toEqual(answer);
    expect(answer.items.map(({ key }) => key)).toEqual(['APP-1', 'WEB-1']);
    const [card] = (await people.chloe.stories.list({ projectId: 'APP', view: 'card' })).items;
    expect(answer.items[0]).toEqual(card);
    expect(await searchKeys({}, people.ana)).toEqual(['HID-1', 'APP-1', 'WEB-1']);
  });

  it('has pages in each order, whose cursors belong to it', async () => {
    for (const [board, dueDate] of [
      ...([
        [web, '2027-03-01'],
        [app, '2027-01-01'],
        [web, '2027-01-01'],
      ] as const),
      ...([
        [app, undefined],
        [app, '2027-02-01'],
      ] as const),
    ])
      await createStory(board, { dueDate });
    await people.ana.stories.update({ storyId: 'APP-1', title: 'y' });
    const orders = {
      created: ['APP-3', 'APP-2', 'WEB-2', 'APP-1', 'WEB-1'],
      updated: ['APP-1', 'APP-3', 'APP-2', 'WEB-2', 'WEB-1'],
      dueDate: ['APP-1', 'WEB-2', 'APP-3', 'WEB-1'],
    };
    for (const sort of ['created', 'updated', 'dueDate'] as const)
      for (const limit of [1, 2, 5])
        expect([sort, await readAll({ sort }, limit)]).toEqual([sort, orders[sort]]);
    const { nextCursor } = await people.chloe.stories.search({ limit: 1 });
    await expect(search({ sort: 'dueDate', cursor: nextCursor ?? '' })).rejects.toMatchObject({
      status: 400,
    });
    for (const day of ['0000-01-01', '2027-02-30', 'x']) {
      const cursor = Buffer.from(JSON.stringify(['dueDate', day, newId()])).toString('base64url');
      await expect(search({ sort: 'dueDate', cursor })).rejects.toMatchObject({ status: 400 });
    }
  });

  it('combines its filters', async () => {
    const parent = await createStory(web, { title: 'Sign in', labels: ['auth'], dueDate: '2027-01-31' });
    const child = await createStory(web, { parentId: parent.id, dueDate: '2027-02-01' });
    const blocker = await createStory(web, {});
    await people.ana.stories.update({ storyId: child.id, blockedBy: [blocker.id] });
    const other = await createStory(app, { status: 'ready', labels: ['Auth'] });
    const agentId = people.robo.me.agentId ?? '';
    const { memberId } = people.chloe.me;
    for (const targetId of [child.id, other.id])
      await people.ana.assignments.set({ targetType: 'story', targetId, memberId });
    await people.ana.assignments.set({ targetType: 'story', targetId: parent.id, agentId });
    const filters: [Params, string[]][] = [
      [{ assigneeId: 'me' }, ['APP-1', 'WEB-2']],
      [{ assigneeId: '@chloe' }, ['APP-1', 'WEB-2']],
      [{ assigneeId: 'me', status: 'ready' }, ['APP-1']],
      [{ assigneeId: 'me', columnId: web.columns.backlog }, ['WEB-2']],
      [{ assigneeId: '@ben' }, []],
      [{ agentId }, ['WEB-1']],
      [{ parentId: 'web-1' }, ['WEB-2']],
      [{ parentId: child.id }, []],
      [{ dueBefore: '2027-02-01' }, ['WEB-1']],
      [{ dueBefore: '2027-02-02', sort: 'dueDate' }, ['WEB-1', 'WEB-2']],
      [{ label: 'AUTH' }, ['APP-1', 'WEB-1']],
      [{ query: 'sign' }, ['WEB-1']],
      [{ query: 'app-' }, ['APP-1']],
      [{ hasOpenBlockers: true }, ['WEB-2']],
      [{ hasOpenBlockers: false }, ['APP-1', 'WEB-3', 'WEB-1']],
      [{ storyIds: [other.id, parent.id], status: ['backlog', 'ready'] }, ['APP-1', 'WEB-1']],
      [{ epicId: newId() }, []],
      [{ updatedSince: '2099-01-01T00:00:00.000Z' }, []],
    ];
    for (const [params, found] of filters)
      expect([params, await searchKeys(params)]).toEqual([params, found]);
    await people.ana.stories.updateStatus({ storyId: blocker.id, status: 'done' });
    expect(await searchKeys({ hasOpenBlockers: true })).toEqual([]);
  });

  it('finds what few stories have on one page, however many there are', async () => {
    const actor = { kind: 'system', memberId: null, agentId: null, name: 'Muster' };
    const wanted = await createStory(web, { labels: ['rare'], dueDate: '2027-02-01' });
    await people.ana.assignments.set({
      ...{ targetType: 'story', targetId: wanted.id, memberId: people.chloe.me.memberId },
    });
    await world.rows(
      `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, due_date, created_by, updated_at)
       select c.org_id, ('ff000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, c.project_id, n, 'x', c.status, c.id,
         'a' || to_char(n, 'FM00000') || 'i', '2027-01-01', $3, now() + make_interval(secs => n)
       from board_columns c, generate_series(1, 1200) n where c.org_id = $1 and c.id = $2`,
      ...[people.orgId, hiddenBoard.columns.backlog, actor],
    );
    for (const sort of ['updated', 'created', 'dueDate'] as const) {
      for (const filter of [{ assigneeId: 'me' }, { label: 'rare' }, {}])
        expect(await people.chloe.stories.search({ ...filter, sort })).toMatchObject({
          ...{ items: [{ id: wanted.id }], nextCursor: null },
        });
      // The owner sees all stories, of which no index finds the ones with the label.
      const { items, nextCursor } = await people.ana.stories.search({ label: 'rare', sort });
      expect([items, typeof nextCursor]).toEqual([[], 'string']);
    }
  });
});
