import { beforeEach, describe, expect, it } from '@jest/globals';
import { type InputOf } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { allOf } from '../../../test/importing.ts';
import { wrongCounts } from '../../../test/true-counts.ts';
import { boardHandlers } from '../../index.ts';

const world = useWorld(boardHandlers);
let people: PeopleOf<typeof world>;
let board: TestBoard;
let importId: string;

type Item = InputOf<typeof boardRegistry.imports.put>['items'][number];

beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
  importId = await begin();
});

const begin = async (provider: 'jira' | 'linear' = 'jira'): Promise<string> =>
  (await people.ana.imports.begin({ projectId: 'WEB', provider, name: 'Of Jira' })).import.id;
const put = (items: Item[], more: { theirs?: boolean; importId?: string } = {}) =>
  people.ana.imports.put({ importId, items, ...more });
const putAndListOutcomes = async (items: Item[], more: { theirs?: boolean; importId?: string } = {}) =>
  (await put(items, more)).results.map(({ outcome }) => outcome);
const everything = () => allOf(world, people.orgId);
const getStory = async (key: string) => (await people.ana.stories.get({ storyId: key })).story;
const listEventKinds = async () =>
  (
    await world.rows<{ kind: string }>(
      'select kind from activity where org_id = $1 order by seq',
      people.orgId,
    )
  ).map(({ kind }) => kind);

const fullItem: Item = {
  externalId: 'OPS-7',
  url: 'https://jira.example/OPS-7',
  title: 'Sign in by mail',
  description: 'As a guest',
  spec: '# Mail\n\nA link.\n',
  status: 'in_review',
  priority: 'high',
  labels: ['auth', 'mail'],
  estimate: 3,
  epic: { externalId: 'OPS-1', title: 'Accounts' },
  assigneeEmail: 'CHLOE@example.com',
  createdAt: '2024-03-01T10:00:00Z',
  updatedAt: '2024-04-01T10:00:00Z',
  comments: [
    { externalId: '2', authorName: 'Zed', body: 'No link @chloe', at: '2024-03-03T10:00:00Z', parent: '1' },
    {
      externalId: '1',
      authorName: 'C.',
      authorEmail: 'chloe@example.com',
      body: 'Why?',
      at: '2024-03-02T10:00:00Z',
    },
  ],
};

describe('imports.put', () => {
  it('makes a story of an item, with all that it says, and the times and authors that it had', async () => {
    const { results, import: after } = await put([fullItem]);
    expect(results).toEqual([
      {
        ...{ externalId: 'OPS-7', outcome: 'created', recordId: expect.any(String) },
        ...{ storyId: expect.any(String), key: 'WEB-1', issues: [] },
      },
    ]);
    expect(after.counts).toEqual({ created: 1, updated: 0, unchanged: 0, kept: 0, refused: 0 });
    const story = await getStory('WEB-1');
    const { items: epics } = await people.ana.epics.list({ projectId: 'WEB' });
    expect(story).toMatchObject({
      ...{
        title: fullItem.title,
        description: fullItem.description,
        priority: 'high',
        labels: fullItem.labels,
        estimate: 3,
      },
      ...{ status: 'in_review', columnId: board.columns.in_review, epicId: epics[0]?.id, specVersion: 1 },
      ...{ createdAt: '2024-03-01T10:00:00.000Z', version: 1, createdBy: { name: 'Ana' } },
      upstream: { provider: 'jira', externalId: 'OPS-7', url: fullItem.url },
    });
    expect(epics).toMatchObject([{ title: 'Accounts', progress: { total: 1, done: 0 } }]);
    expect((await people.ana.storySpec.get({ storyId: 'WEB-1' })).spec.content).toBe(fullItem.spec);
    const { items: threads } = await people.ana.comments.list({ storyId: 'WEB-1' });
    expect(threads).toMatchObject([
      {
        ...{ body: 'Why?', createdAt: '2024-03-02T10:00:00.000Z' },
        author: { kind: 'member', memberId: people.chloe.me.memberId, name: 'Chloé' },
        replies: [{ body: 'No link @chloe', mentions: [], author: { memberId: null, name: 'Zed' } }],
      },
    ]);
    expect((await people.ana.assignments.listForProject({ projectId: 'WEB' })).items).toMatchObject([
      { member: { id: people.chloe.me.memberId }, agent: null },
    ]);
    expect(await wrongCounts(world, board.projectId)).toEqual([]);
  });

  it('says it in one line of the activity, and nothing where nothing came of it', async () => {
    await put([fullItem, { externalId: '2', title: 'Two', status: 'canceled' }]);
    expect(await listEventKinds()).toEqual(['import.started', 'import.stored']);
    await put([fullItem]);
    expect(await listEventKinds()).toHaveLength(2);
    expect(
      await world.rows('select from outbox where org_id = $1 and topic <> $2', people.orgId, 'event'),
    ).toEqual([]);
  });

  it('put again is as if it was put once, in the same import or another', async () => {
    const items = [fullItem, { externalId: 'OPS-8', title: 'Two', status: 'canceled' as const }];
    await put(items);
    const before = await everything();
    expect(await putAndListOutcomes(items)).toEqual(['unchanged', 'unchanged']);
    expect(await putAndListOutcomes(items, { importId: await begin(), theirs: true })).toEqual([
      'unchanged',
      'unchanged',
    ]);
    expect(await everything()).toEqual(before);
    expect(await putAndListOutcomes([fullItem], { importId: await begin('linear') })).toEqual(['created']);
  });

  it('follows the source where the story is as it was left', async () => {
    await put([fullItem]);
    const changed = {
      ...fullItem,
      title: 'Sign in',
      status: 'done' as const,
      spec: '# New\n',
      priority: 'low' as const,
    };
    expect(await putAndListOutcomes([changed])).toEqual(['updated']);
    const story = await getStory('WEB-1');
    expect(story).toMatchObject({
      ...{ title: 'Sign in', status: 'done', columnId: board.columns.done, priority: 'low', version: 2 },
      ...{ specVersion: 2, description: fullItem.description, completedAt: '2024-04-01T10:00:00.000Z' },
    });
    expect(await putAndListOutcomes([{ ...changed, status: 'canceled' }])).toEqual(['updated']);
    expect(await getStory('WEB-1')).toMatchObject({ status: 'canceled', columnId: null, version: 3 });
    expect(await wrongCounts(world, board.projectId)).toEqual([]);
    // A change of source fields that stories do not have is recorded but creates no version.
    expect(
      await putAndListOutcomes([{ ...changed, status: 'canceled', updatedAt: '2025-01-01T00:00:00Z' }]),
    ).toEqual(['unchanged']);
    expect((await getStory('WEB-1')).version).toBe(3);
  });

  it('keeps what was changed, moved or deleted here, unless the source counts', async () => {
    const [one, two, three] = ['1', '2', '3'].map((externalId) => ({
      externalId,
      title: `Story ${externalId}`,
    }));
    if (one === undefined || two === undefined || three === undefined) throw new Error('three items');
    await put([one, two, three]);
    await people.chloe.stories.update({ storyId: 'WEB-1', title: 'Mine' });
    await people.chloe.stories.updateStatus({ storyId: 'WEB-2', status: 'ready' });
    await people.ana.stories.delete({ storyId: 'WEB-3' });
    const changed = [one, two, three].map((item) => ({ ...item, title: `${item.title}, new` }));
    for (let times = 0; times < 2; times += 1) {
      const { results } = await put(changed);
      expect(results).toMatchObject([
        {
          outcome: 'kept',
          key: 'WEB-1',
          issues: [{ message: 'The story was changed in Muster since the last import.' }],
        },
        { outcome: 'kept', key: 'WEB-2' },
        {
          outcome: 'kept',
          key: null,
          storyId: null,
          issues: [{ message: 'The story was deleted in Muster.' }],
        },
      ]);
    }
    expect(await putAndListOutcomes(changed, { theirs: true })).toEqual(['updated', 'updated', 'created']);
    expect((await getStory('WEB-1')).title).toBe('Story 1, new');
    expect((await getStory('WEB-4')).title).toBe('Story 3, new');
    expect(await putAndListOutcomes(changed)).toEqual(['unchanged', 'unchanged', 'unchanged']);
  });

  it('keeps a story that is being worked on, even where the source counts', async () => {
    await put([{ externalId: '1', title: 'One' }]);
    await world.rows(
      `insert into executions (org_id, id, project_id, target_type, target_id, state, attempt, epoch, spec_version)
       select org_id, gen_random_uuid(), project_id, 'story', id, 'leased', 1, 1, 0 from stories where org_id = $1`,
      people.orgId,
    );
    expect(await putAndListOutcomes([{ externalId: '1', title: 'Two' }], { theirs: true })).toEqual(['kept']);
    expect((await getStory('WEB-1')).title).toBe('One');
  });

  it('does not double a story that mirrors the item already', async () => {
    await people.ana.stories.create({ projectId: 'WEB', title: 'By hand' });
    await people.ana.stories.updateUpstream({
      storyId: 'WEB-1',
      upstream: { provider: 'jira', externalId: 'OPS-7' },
    });
    expect(await putAndListOutcomes([fullItem])).toEqual(['kept']);
    expect(await putAndListOutcomes([fullItem], { theirs: true })).toEqual(['updated']);
    expect((await getStory('WEB-1')).title).toBe(fullItem.title);
    expect(await putAndListOutcomes([fullItem])).toEqual(['unchanged']);
  });

  it('puts stories into columns by name, in the order given, after those that are there', async () => {
    await people.ana.stories.create({ projectId: 'WEB', title: 'First', status: 'ready' });
    const items = ['a', 'b', 'c'].map((externalId) => ({ externalId, title: externalId, column: 'READY' }));
    await put(items);
    const { items: stories } = await people.ana.stories.list({
      projectId: 'WEB',
      columnId: board.columns.ready,
    });
    expect(stories.map(({ title }) => title)).toEqual(['First', 'a', 'b', 'c']);
  });

  it('refuses an item that has no place, and names what it leaves out; the others are put', async () => {
    await people.ana.boardColumns.archive({ columnId: board.columns.in_review });
    const { results } = await put([
      { externalId: '1', title: 'No such column', column: 'Somewhere' },
      { externalId: '2', title: 'No such status', status: 'in_review' },
      { externalId: '3', title: 'Fine', assigneeEmail: 'eve@example.com' },
      { externalId: '3', title: 'Twice' },
      {
        ...{ externalId: '4', title: 'Comments' },
        comments: [
          { externalId: '1', authorName: 'Z', body: 'b', at: '2024-01-01T00:00:00Z', parent: '9' },
          { externalId: '1', authorName: 'Z', body: 'c', at: '2024-01-02T00:00:00Z' },
        ],
      },
    ]);
    expect(results.map(({ outcome, issues }) => [outcome, ...issues.map(({ path }) => path)])).toEqual([
      ['refused', 'column'],
      ['refused', 'status'],
      ['created', 'assigneeEmail'],
      ['refused', 'externalId'],
      ['created', 'comments.0', 'comments.1'],
    ]);
    expect((await people.ana.stories.list({ projectId: 'WEB' })).items).toHaveLength(2);
  });

  it('brings comments that came since, and follows those that were edited there and not here', async () => {
    await put([fullItem]);
    const [second, first] = fullItem.comments ?? [];
    if (first === undefined || second === undefined) throw new Error('two comments');
    const third = {
      externalId: '3',
      authorName: 'Zed',
      body: 'Later',
      at: '2024-05-01T00:00:00Z',
      parent: '2',
    };
    const changed = { ...fullItem, comments: [{ ...first, body: 'Why not?' }, second, third] };
    expect(await putAndListOutcomes([changed])).toEqual(['updated']);
    const bodies = async () =>
      (await people.ana.comments.list({ storyId: 'WEB-1' })).items.flatMap(({ body, replies }) => [
        body,
        ...replies.map((reply) => reply.body),
      ]);
    expect(await bodies()).toEqual(['Why not?', 'No link @chloe', 'Later']);
    const { items } = await people.ana.comments.list({ storyId: 'WEB-1' });
    await people.chloe.comments.update({ commentId: items[0]?.id ?? '', body: 'Mine' });
    expect(await putAndListOutcomes([{ ...fullItem, comments: [{ ...first, body: 'Theirs' }] }])).toEqual([
      'unchanged',
    ]);
    expect(await bodies()).toEqual(['Mine', 'No link @chloe', 'Later']);
  });

  it('is one and the same for two who put at a time', async () => {
    const items = Array.from({ length: 20 }, (_, index) => ({
      externalId: `${index}`,
      title: `Story ${index}`,
    }));
    const results = await world.runUnderContention(
      { table: 'imports', id: importId },
      () => putAndListOutcomes(items),
      () => putAndListOutcomes(items),
    );
    const said = results.map((result) =>
      result.status === 'fulfilled' ? result.value[0] : String(result.reason),
    );
    expect(said.sort()).toEqual(['created', 'unchanged']);
    const { counts } = (await people.ana.imports.get({ importId })).import;
    expect(counts).toMatchObject({ created: 20, unchanged: 20 });
    const numbers = await world.rows<{ number: number }>(
      'select number from stories where org_id = $1 order by number',
      people.orgId,
    );
    expect(numbers.map(({ number }) => number)).toEqual(items.map((_, index) => index + 1));
  });
});

describe('imports.finish', () => {
  it('lets stories wait for those that their items name, and names what is left out', async () => {
    await put([
      { externalId: '1', title: 'One', blockedBy: ['2', 'none'] },
      { externalId: '2', title: 'Two', blockedBy: ['3'] },
      { externalId: '3', title: 'Three', blockedBy: ['1', '3'] },
    ]);
    const { import: finished, leftOut } = await people.ana.imports.finish({ importId });
    expect(finished).toMatchObject({ state: 'finished', finishedAt: expect.any(String) });
    expect(leftOut.map(({ externalId, blockedBy }) => [externalId, blockedBy])).toEqual([
      ['1', 'none'],
      ['3', '1'],
      ['3', '3'],
    ]);
    const [one, two, three] = await Promise.all(['WEB-1', 'WEB-2', 'WEB-3'].map(getStory));
    expect([one?.blockedBy, two?.blockedBy, three?.blockedBy]).toEqual([[two?.id], [three?.id], []]);
    // The import can still update the story, because no member has changed it.
    expect(
      await putAndListOutcomes([{ externalId: '1', title: 'One, new' }], { importId: await begin() }),
    ).toEqual(['updated']);
  });

  it('takes no more items, and finishes once', async () => {
    const { import: finished } = await people.ana.imports.finish({ importId });
    expect((await people.ana.imports.finish({ importId })).import).toEqual(finished);
    await expect(put([fullItem])).rejects.toMatchObject({
      status: 409,
      body: { details: { reason: 'already_resolved', state: 'finished' } },
    });
    expect((await listEventKinds()).filter((kind) => kind === 'import.finished')).toHaveLength(1);
  });
});

describe('imports.undo', () => {
  it('takes back what it made, and nothing else', async () => {
    await people.ana.stories.create({ projectId: 'WEB', title: 'Before' });
    const before = await everything();
    await put([fullItem, { externalId: '2', title: 'Two', blockedBy: ['OPS-7'], status: 'canceled' }]);
    await people.ana.imports.finish({ importId });
    const undone = await people.ana.imports.undo({ importId });
    expect(undone).toMatchObject({ removed: 2, kept: [], import: { state: 'reverted' } });
    expect(await everything()).toEqual(before);
    expect(await wrongCounts(world, board.projectId)).toEqual([]);
    expect(await people.ana.imports.undo({ importId })).toMatchObject({
      removed: 0,
      kept: [],
      import: undone.import,
    });
    await expect(put([fullItem])).rejects.toMatchObject({
      body: { details: { reason: 'already_resolved' } },
    });
    expect(await putAndListOutcomes([fullItem], { importId: await begin() })).toEqual(['created']);
  });

  it.each([
    ['changed', () => people.chloe.stories.update({ storyId: 'WEB-1', title: 'Mine' })],
    ['moved', () => people.chloe.stories.updateStatus({ storyId: 'WEB-1', status: 'ready' })],
    ['commented on', () => people.dan.comments.create({ storyId: 'WEB-1', body: 'Hm' })],
    [
      'reacted to',
      async () => {
        const { items } = await people.ana.comments.list({ storyId: 'WEB-1' });
        await people.dan.comments.react({ commentId: items[0]?.id ?? '', emoji: '👍' });
      },
    ],
    [
      'assigned',
      () =>
        people.ana.assignments.set({
          targetType: 'story',
          targetId: 'WEB-1',
          memberId: people.ben.me.memberId,
        }),
    ],
    [
      'given a reviewer',
      () => people.ana.reviewers.add({ storyId: 'WEB-1', memberId: people.ben.me.memberId }),
    ],
  ])('keeps a story that was %s since', async (_how, touch) => {
    await put([fullItem, { externalId: '2', title: 'Two' }]);
    await touch();
    const { removed, kept } = await people.ana.imports.undo({ importId });
    expect([removed, kept]).toMatchObject([1, [{ externalId: 'OPS-7', key: 'WEB-1' }]]);
    expect(await wrongCounts(world, board.projectId)).toEqual([]);
  });
});

describe('who may', () => {
  it('is a lead of the project, and sees imports of their own projects alone', async () => {
    const { chloe, dan, ana } = people;
    for (const person of [chloe, dan]) {
      for (const attempt of [
        () => person.imports.begin({ projectId: 'WEB', provider: 'jira', name: 'x' }),
        () => person.imports.put({ importId, items: [fullItem] }),
        () => person.imports.finish({ importId }),
        () => person.imports.get({ importId }),
        () => person.imports.list({ projectId: 'WEB' }),
        () => person.imports.undo({ importId }),
      ])
        await expect(attempt()).rejects.toMatchObject({ status: 403, body: { details: { reason: 'role' } } });
    }
    const theirs = await world.org();
    await expect(theirs.ana.imports.get({ importId })).rejects.toMatchObject({ status: 404 });
    const second = await begin();
    const { items } = await ana.imports.list({ projectId: 'WEB' });
    expect(items.map(({ id }) => id)).toEqual([second, importId]);
    expect((await ana.imports.get({ importId })).import).toEqual(items[1]);
  });

  it('writes nothing into an archived project', async () => {
    await people.ana.projects.update({ projectId: 'WEB', archived: true });
    await expect(put([fullItem])).rejects.toMatchObject({
      status: 422,
      body: { details: { reason: 'archived' } },
    });
  });
});
