/** Tests repeated imports of items whose stories were changed in the meantime. */
import { isDeepStrictEqual } from 'node:util';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type InputOf } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeBoard } from '../../../test/board.ts';
import { boardHandlers } from '../../index.ts';

const world = useWorld(boardHandlers);
let people: PeopleOf<typeof world>;
let importId: string;

type Item = InputOf<typeof boardRegistry.imports.put>['items'][number];

beforeEach(async () => {
  people = await world.org();
  await arrangeBoard(world, people.orgId);
  importId = await begin();
});

const begin = async (): Promise<string> =>
  (await people.ana.imports.begin({ projectId: 'WEB', provider: 'jira', name: 'Of Jira' })).import.id;
const put = async (items: Item[], more: { theirs?: boolean; importId?: string } = {}) =>
  (await people.ana.imports.put({ importId, items, ...more })).results;
const storyOf = async (key: string) => (await people.ana.stories.get({ storyId: key })).story;
const threadsOf = async (key: string) =>
  (await people.ana.comments.list({ storyId: key })).items.map(({ body, replies }) => [
    body,
    ...replies.map((reply) => reply.body),
  ]);
const assign = (targetType: 'story' | 'epic', targetId: string) =>
  people.ana.assignments.set({ targetType, targetId, memberId: people.ben.me.memberId });
const listAssigned = async () =>
  (await people.ana.assignments.listForProject({ projectId: 'WEB' })).items.map(
    ({ targetTitle }) => targetTitle,
  );
/** An execution of a story, as delivery would write it. */
const arrangeExecution = (state: 'available' | 'leased') =>
  world.rows(
    `insert into executions (org_id, id, project_id, target_type, target_id, state, attempt, epoch, spec_version)
     select org_id, gen_random_uuid(), project_id, 'story', id, $2, 1, 1, 0 from stories where org_id = $1`,
    people.orgId,
    state,
  );

const firstItem: Item = { externalId: '1', title: 'One' };
const comment = (externalId: string, parent?: string) => ({
  ...{ externalId, authorName: 'Zed', body: `Comment ${externalId}`, at: `2024-03-0${externalId}T10:00:00Z` },
  ...(parent !== undefined && { parent }),
});

describe('comments of an item that comes again', () => {
  it('join the threads of those that an earlier put brought, though it names only the new ones', async () => {
    await put([{ ...firstItem, comments: [comment('1'), comment('2', '1')] }]);
    const [result] = await put([{ ...firstItem, comments: [comment('3', '1'), comment('4', '2')] }]);
    expect(result?.issues).toEqual([]);
    expect(await threadsOf('WEB-1')).toEqual([['Comment 1', 'Comment 2', 'Comment 3', 'Comment 4']]);
  });

  it('come back with a story that was deleted here and is made anew', async () => {
    const comments = [comment('1'), comment('2', '1')];
    await put([{ ...firstItem, comments }]);
    await people.ana.stories.delete({ storyId: 'WEB-1' });
    expect(await put([{ ...firstItem, title: 'Once more', comments }], { theirs: true })).toMatchObject([
      { outcome: 'created', key: 'WEB-2', issues: [] },
    ]);
    expect(await threadsOf('WEB-2')).toEqual([['Comment 1', 'Comment 2']]);
    expect(await put([{ ...firstItem, title: 'Once more', comments }])).toMatchObject([
      { outcome: 'unchanged' },
    ]);
  });

  it('stay away where they alone were deleted here', async () => {
    await put([{ ...firstItem, comments: [comment('1')] }]);
    const { items } = await people.ana.comments.list({ storyId: 'WEB-1' });
    await people.ana.comments.delete({ commentId: items[0]?.id ?? '' });
    await put([{ ...firstItem, title: 'New', comments: [comment('1')] }]);
    expect(await threadsOf('WEB-1')).toEqual([]);
  });
});

describe('comments that come again unchanged', () => {
  const comments = Array.from({ length: 20 }, (_, n) => ({
    ...{ externalId: `${n}`, authorName: 'Zed', body: `Comment ${n}`, at: '2024-03-01T10:00:00Z' },
  }));
  /** Reads the last transaction that wrote or locked each comment. A row lock is a write, and 100,000 are slow. */
  const lastTouched = () =>
    world.rows(
      `select body, xmin::text, xmax::text from comments where org_id = $1 order by body`,
      people.orgId,
    );

  it('are neither written nor locked', async () => {
    await put([{ ...firstItem, comments }]);
    const before = await lastTouched();
    expect(before).toHaveLength(20);
    expect(await put([{ ...firstItem, comments }])).toMatchObject([{ outcome: 'unchanged' }]);
    expect(await lastTouched()).toEqual(before);
  });

  it('stay as they are beside one that changed and one that is new', async () => {
    await put([{ ...firstItem, comments }]);
    const before = await lastTouched();
    const [first, ...others] = comments;
    const changed = { ...first, ...comment('1'), externalId: '0', body: 'Changed' };
    const reply = { ...comment('1', '1'), externalId: 'new', body: 'A reply' };
    const again = [{ ...firstItem, comments: [changed, ...others, reply] }];
    expect(await put(again)).toMatchObject([{ outcome: 'updated', issues: [] }]);
    expect(await threadsOf('WEB-1')).toContainEqual(['Comment 1', 'A reply']);
    // Comment 0 was updated, and comment 1 was locked by its reply.
    expect(
      (await lastTouched()).filter((row) => before.some((one) => isDeepStrictEqual(one, row))),
    ).toHaveLength(18);
  });
});

describe('the place of an item in the other tracker', () => {
  const url = 'https://jira.example/OPS-1';

  it('stays where an item names none', async () => {
    await put([{ ...firstItem, url }]);
    expect(await put([{ ...firstItem, title: 'New' }])).toMatchObject([{ outcome: 'updated' }]);
    expect((await storyOf('WEB-1')).upstream).toMatchObject({ url });
    expect(await put([{ ...firstItem, title: 'New', priority: 'none' }])).toMatchObject([
      { outcome: 'unchanged' },
    ]);
    expect((await storyOf('WEB-1')).upstream).toMatchObject({ url });
  });

  it('is written where it alone is another', async () => {
    await put([{ ...firstItem, url }]);
    const moved = { ...firstItem, url: 'https://jira.example/NEW-1' };
    expect(await put([moved])).toMatchObject([{ outcome: 'updated' }]);
    expect(await storyOf('WEB-1')).toMatchObject({ upstream: { url: moved.url }, version: 2 });
    expect(await put([moved])).toMatchObject([{ outcome: 'unchanged' }]);
  });

  it('keeps the state that was noted of it here', async () => {
    await put([firstItem]);
    const upstream = { provider: 'jira', externalId: '1', state: 'Blocked' } as const;
    await people.ana.stories.updateUpstream({ storyId: 'WEB-1', upstream });
    await put([{ ...firstItem, title: 'New' }], { theirs: true });
    expect((await storyOf('WEB-1')).upstream).toMatchObject({ state: 'Blocked' });
  });
});

describe('an item whose story is another by now', () => {
  const upstream = { provider: 'jira', externalId: '1' } as const;

  it.each([
    ['was deleted', () => people.ana.stories.delete({ storyId: 'WEB-1' })],
    ['mirrors no item', () => people.ana.stories.updateUpstream({ storyId: 'WEB-1', upstream: null })],
  ])('belongs to that which mirrors it, where the one that it made %s', async (_how, lose) => {
    await put([{ ...firstItem, comments: [comment('1')] }]);
    await lose();
    await people.ana.stories.create({ projectId: 'WEB', title: 'By hand' });
    await people.ana.stories.updateUpstream({ storyId: 'WEB-2', upstream });
    const changed = { ...firstItem, title: 'New', comments: [comment('1'), comment('2', '1')] };
    expect(await put([changed])).toMatchObject([{ outcome: 'kept', key: 'WEB-2' }]);
    expect(await put([changed], { theirs: true })).toMatchObject([
      { outcome: 'updated', key: 'WEB-2', issues: [] },
    ]);
    expect((await storyOf('WEB-2')).title).toBe('New');
    expect(await threadsOf('WEB-2')).toEqual([['Comment 1', 'Comment 2']]);
    expect(await put([changed])).toMatchObject([{ outcome: 'unchanged', key: 'WEB-2' }]);
    // The story was not created by the import, so undo does not remove it.
    expect(await people.ana.imports.undo({ importId })).toMatchObject({ removed: 0 });
    expect((await storyOf('WEB-2')).title).toBe('New');
  });

  it('leaves the story to the first of two items that meet in it', async () => {
    await put([firstItem]);
    await people.ana.stories.updateUpstream({
      storyId: 'WEB-1',
      upstream: { ...upstream, externalId: '2' },
    });
    const both = ['1', '2'].map((externalId) => ({ externalId, title: `New ${externalId}`, spec: 'New' }));
    expect(await put(both, { theirs: true })).toMatchObject([
      { outcome: 'updated', key: 'WEB-1' },
      {
        outcome: 'kept',
        key: 'WEB-1',
        issues: [{ message: 'An earlier item was imported as the same story.' }],
      },
    ]);
    expect(await storyOf('WEB-1')).toMatchObject({ title: 'New 1', upstream: { externalId: '1' } });
    expect(await put(both, { theirs: true })).toMatchObject([
      { outcome: 'unchanged', key: 'WEB-1' },
      { outcome: 'created', key: 'WEB-2' },
    ]);
  });
});

describe('work that can go on here', () => {
  it('is kept where an item would cancel its story, and follows an item that would not', async () => {
    await put([firstItem]);
    await arrangeExecution('available');
    expect(await put([{ ...firstItem, status: 'canceled' }], { theirs: true })).toMatchObject([
      { outcome: 'kept', issues: [{ message: 'The story is being worked on in Muster.' }] },
    ]);
    expect((await storyOf('WEB-1')).status).toBe('backlog');
    expect(await put([{ ...firstItem, title: 'New' }])).toMatchObject([{ outcome: 'updated' }]);
  });
});

describe('the epic of an item', () => {
  it('has the day by which it is due, follows the source, and keeps it where the source says none', async () => {
    const epic = { externalId: 'E', title: 'Accounts' };
    const dueOf = async () => (await people.ana.epics.list({ projectId: 'WEB' })).items[0]?.targetDate;
    await put([{ ...firstItem, epic: { ...epic, targetDate: '2024-05-01' } }]);
    expect(await dueOf()).toBe('2024-05-01');
    await put([{ ...firstItem, epic: { ...epic, targetDate: '2024-06-01' } }]);
    expect(await dueOf()).toBe('2024-06-01');
    await put([{ ...firstItem, title: 'New', epic }]);
    expect(await dueOf()).toBe('2024-06-01');
  });
});

describe('what an import made, and a member was assigned to since', () => {
  it('stays where it is an epic, with who is assigned to it', async () => {
    await put([{ ...firstItem, epic: { externalId: 'E', title: 'Accounts' } }]);
    const { items } = await people.ana.epics.list({ projectId: 'WEB' });
    await assign('epic', items[0]?.id ?? '');
    expect(await people.ana.imports.undo({ importId })).toMatchObject({ removed: 1 });
    expect((await people.ana.epics.list({ projectId: 'WEB' })).items).toHaveLength(1);
    expect(await listAssigned()).toEqual(['Accounts']);
  });

  it('stays where it is a story, though the item was put again after that', async () => {
    await put([firstItem]);
    await assign('story', 'WEB-1');
    await put([{ ...firstItem, title: 'New' }]);
    expect(await people.ana.imports.undo({ importId })).toMatchObject({
      removed: 0,
      kept: [{ externalId: '1' }],
    });
    expect(await listAssigned()).toEqual(['New']);
  });

  it('goes where only the import assigned it, also when it made it anew', async () => {
    const mine = { ...firstItem, assigneeEmail: 'ben@example.com' };
    await put([mine]);
    await people.ana.stories.delete({ storyId: 'WEB-1' });
    const again = await begin();
    await put([{ ...mine, title: 'New' }], { importId: again, theirs: true });
    expect(await listAssigned()).toEqual(['New']);
    expect(await people.ana.imports.undo({ importId: again })).toMatchObject({ removed: 1, kept: [] });
  });
});

describe('an assignee who is being removed', () => {
  it('is not assigned by an import at that moment', async () => {
    const { memberId } = people.ben.me;
    const removing = await world.database.owner.connect();
    try {
      await removing.query('begin');
      await removing.query(`update members set status = 'removed' where id = $1`, [memberId]);
      const putting = put([{ ...firstItem, assigneeEmail: 'ben@example.com' }]);
      const outcome = expect(putting).resolves.toMatchObject([
        { outcome: 'created', issues: [{ path: 'assigneeEmail' }] },
      ]);
      await world.waitUntilBlocked(1);
      await removing.query('select app.release_member($1, $2)', [people.orgId, memberId]);
      await removing.query('commit');
      await outcome;
    } finally {
      removing.release();
    }
    expect(await listAssigned()).toEqual([]);
  });
});

describe('the parent of an item', () => {
  const child = (externalId: string, parent: string): Item => ({ externalId, parent, title: externalId });
  const finish = async (of = importId) => (await people.ana.imports.finish({ importId: of })).parentsLeftOut;
  const parentOf = async (key: string) => (await storyOf(key)).parentId;

  it('is set when the import is finished, one level deep', async () => {
    const items = [firstItem, child('2', '1'), child('3', '2'), child('4', '4'), child('5', '9')];
    await put(items);
    expect(await parentOf('WEB-2')).toBeNull();
    expect(await finish()).toEqual([
      { externalId: '3', parent: '2', reason: 'Stories nest one level deep.' },
      { externalId: '4', parent: '4', reason: 'Stories nest one level deep.' },
      { externalId: '5', parent: '9', reason: 'No imported item of this provider has this id.' },
    ]);
    expect(await parentOf('WEB-2')).toBe((await storyOf('WEB-1')).id);
    // The stories count as unchanged since, so a later import still updates them.
    const later = await begin();
    const again = await put([{ ...child('2', '1'), title: 'New', dueDate: '2027-05-01' }], {
      importId: later,
    });
    expect(again).toMatchObject([{ outcome: 'updated' }]);
    expect(await storyOf('WEB-2')).toMatchObject({ title: 'New', dueDate: '2027-05-01' });
    expect(await people.ana.imports.undo({ importId })).toMatchObject({ removed: 5, kept: [] });
  });

  it('stays what someone set here, and follows the source otherwise', async () => {
    await put([firstItem, { externalId: '2', title: 'Two' }, child('3', '1'), child('4', '1')]);
    await finish();
    await people.ana.stories.update({ storyId: 'WEB-3', parentId: 'WEB-2' });
    const later = await begin();
    const moved = [child('3', '1'), child('4', '2')].map((item) => ({ ...item, title: 'New' }));
    expect(await put(moved, { importId: later })).toMatchObject([
      { outcome: 'kept' },
      { outcome: 'updated' },
    ]);
    expect(await finish(later)).toEqual([]);
    const two = await storyOf('WEB-2');
    expect([await parentOf('WEB-3'), await parentOf('WEB-4')]).toEqual([two.id, two.id]);
  });
});

describe('a wait for an item that came in a later import', () => {
  const waiting: Item = { ...firstItem, blockedBy: ['2'] };
  const two: Item = { externalId: '2', title: 'Two' };
  const finish = (of: string) => people.ana.imports.finish({ importId: of });

  it('is made then, though the item that waits says what it said', async () => {
    await put([waiting]);
    expect((await finish(importId)).leftOut).toMatchObject([{ externalId: '1', blockedBy: '2' }]);
    const later = await begin();
    expect(await put([waiting, two], { importId: later })).toMatchObject([
      { outcome: 'unchanged' },
      { outcome: 'created' },
    ]);
    expect((await finish(later)).leftOut).toEqual([]);
    expect((await storyOf('WEB-1')).blockedBy).toEqual([(await storyOf('WEB-2')).id]);
  });

  it('is not made again where it was taken away here', async () => {
    await put([waiting, two]);
    await finish(importId);
    await people.ana.stories.update({ storyId: 'WEB-1', blockedBy: [] });
    const later = await begin();
    await put([waiting, two], { importId: later });
    await finish(later);
    expect((await storyOf('WEB-1')).blockedBy).toEqual([]);
  });
});
