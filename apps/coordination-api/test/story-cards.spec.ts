/** Tests the story cards of the board, and their fields for stories that members and agents work on. */
import { beforeEach, expect, it } from '@jest/globals';
import { type InputOf, type StoryCard } from '@muster/contract';
import { type registry } from '@muster/registry';
import { type AllHandlers } from '@muster/operations';
import { type People, refusalOf } from '@muster/testing';
import { useApi } from './api.ts';
import { expireLeases } from './one-story.ts';

const api = useApi();
let people: People<AllHandlers>;
beforeEach(async () => {
  people = await api.org();
  await people.ana.projects.create({ key: 'WEB', name: 'Web' });
});

type ListCardsParams = Omit<InputOf<typeof registry.stories.list>, 'projectId' | 'view'>;
const listCards = async (asked: ListCardsParams = {}): Promise<StoryCard[]> =>
  (await people.dan.stories.list({ projectId: 'WEB', view: 'card', ...asked })).items;
const createStory = (title: string, status: 'ready' | 'backlog' = 'ready') =>
  people.ana.stories.create({
    projectId: 'WEB',
    title,
    status,
    labels: ['a'],
    estimate: 2,
    priority: 'high',
  });

it('a card has what a board shows, and nothing beyond', async () => {
  const { story } = await createStory('Alone');
  const { id, key, title, rank, columnId, status, priority, labels, estimate, epicId, blocked } = story;
  const { parentId, dueDate } = story;
  expect(await listCards()).toEqual([
    {
      ...{ id, key, title, rank, columnId, status, priority, labels, estimate, epicId, blocked },
      ...{ parentId, dueDate, children: null },
      ...{ updatedAt: story.updatedAt, version: 1, execution: null, agentResponse: null },
      assignees: { member: null, agent: null },
      counts: { openThreads: 0, openBlockers: 0, reviewers: 0 },
    },
  ]);
});

it('a card of a parent counts its children, and each card has its due date', async () => {
  const { ana } = people;
  for (const title of ['Parent', 'One', 'Two', 'Three']) await createStory(title);
  for (const storyId of ['WEB-2', 'WEB-3', 'WEB-4'])
    await ana.stories.update({ storyId, parentId: 'WEB-1', dueDate: '2027-05-01' });
  await ana.stories.updateStatus({ storyId: 'WEB-2', status: 'done' });
  await ana.stories.updateStatus({ storyId: 'WEB-3', status: 'canceled' });
  const [parent] = await listCards({ storyIds: [(await ana.stories.get({ storyId: 'WEB-1' })).story.id] });
  expect(parent).toMatchObject({ parentId: null, dueDate: null, children: { total: 2, done: 1 } });
  const [child] = await listCards({ parentId: 'WEB-1', status: 'ready' });
  expect(child).toMatchObject({ key: 'WEB-4', parentId: parent?.id, dueDate: '2027-05-01', children: null });
});

it('a card counts what is open, and names who is assigned', async () => {
  const { ana, ben, chloe, robo } = people;
  for (const title of ['One', 'Two', 'Three']) await createStory(title);
  await ana.stories.update({ storyId: 'WEB-1', blockedBy: ['WEB-2', 'WEB-3'] });
  await ana.stories.updateStatus({ storyId: 'WEB-3', status: 'done' });
  await ana.reviewers.add({ storyId: 'WEB-1', memberId: ben.me.memberId });
  for (const body of ['First', 'Second', 'Third']) {
    const { comment } = await chloe.comments.create({ storyId: 'WEB-1', body });
    await chloe.comments.create({ storyId: 'WEB-1', body: 'A reply', parentId: comment.id });
    if (body === 'First') await chloe.comments.resolve({ commentId: comment.id });
  }
  const { memberId, name, handle } = chloe.me;
  await ana.assignments.set({
    ...{ targetType: 'story', targetId: 'WEB-1', memberId, agentId: robo.me.agentId ?? '' },
  });
  const [first] = await listCards();
  expect(first).toMatchObject({
    key: 'WEB-1',
    counts: { openThreads: 2, openBlockers: 1, reviewers: 1 },
    assignees: { member: { id: memberId, name, handle }, agent: { id: robo.me.agentId, name: 'Robo' } },
  });
});

it('counts stop at 100, and the cards of a page with very many threads and mentions are complete', async () => {
  const { ana, robo, orgId } = people;
  for (const title of ['One', 'Two']) await createStory(title);
  for (const [number, threads] of [
    [1, 2100],
    [2, 3],
  ])
    await api.world.rows(
      `insert into comments (org_id, id, story_id, kind, body, author, author_member_id, agent_mentions)
       select s.org_id, uuidv7(), s.id, 'comment', 'x', s.created_by, $2, array[$3::uuid]
       from stories s cross join generate_series(1, $5::int) n where s.org_id = $1 and s.number = $4`,
      ...[orgId, ana.me.memberId, robo.me.agentId, number, threads],
    );
  await api.world.rows(
    `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by, parent_id)
     select s.org_id, uuidv7(), s.project_id, 100 + n, 'Child', s.status, s.column_id, 'z' || lpad(n::text, 5, '0'), s.created_by, s.id
     from stories s cross join generate_series(1, 2100) n where s.org_id = $1 and s.number = 1`,
    orgId,
  );
  const agentResponse = { agent: { id: robo.me.agentId, name: 'Robo' } };
  expect(await listCards({ limit: 2 })).toMatchObject([
    { counts: { openThreads: 100 }, children: { total: 100, done: 0 }, agentResponse },
    { counts: { openThreads: 3 }, children: null, agentResponse },
  ]);
});

it('a card says who works on the story, until when and how far, also past the time', async () => {
  const { ana, chloe, orgId } = people;
  await createStory('One');
  const { execution, leaseToken } = await chloe.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: 'WEB-1', runId: 'r1' },
  });
  const held = { executionId: execution.id, leaseToken };
  const { execution: now } = await chloe.deliveryExecutions.update({ ...held, progress: 40 });
  const work = async () => (await listCards())[0]?.execution;
  expect(await work()).toEqual({
    ...{ id: execution.id, state: 'leased', progress: 40, needsRework: false },
    ...{ holder: now.lease?.holder, expiresAt: now.lease?.expiresAt },
  });
  await expireLeases(api, orgId);
  expect(await work()).toMatchObject({ state: 'stalled', holder: { name: 'Chloé' } });
  await chloe.deliveryExecutions.release(held);
  expect(await work()).toMatchObject({ state: 'available', holder: null, expiresAt: null });
  await ana.deliveryExecutions.update({ executionId: execution.id, requestStop: true });
  expect(await work()).toBeNull();
});

it('cards come in every order and by every filter as summaries do, a thousand at most', async () => {
  const { dan } = people;
  for (let n = 0; n < 5; n += 1) await createStory(`Story ${n}`, n % 2 === 0 ? 'ready' : 'backlog');
  for (const asked of [
    {},
    { sort: 'updated' },
    { sort: 'created' },
    { status: 'ready' },
    { label: 'a', sort: 'created' },
    { query: 'Story 3' },
    { query: 'none of them' },
  ] as const) {
    const { items } = await dan.stories.list({ projectId: 'WEB', ...asked });
    expect([asked, (await listCards(asked)).map(({ key }) => key)]).toEqual([
      asked,
      items.map(({ key }) => key),
    ]);
    const walked: string[] = [];
    for await (const card of dan.stories.list.all({ projectId: 'WEB', view: 'card', limit: 2, ...asked }))
      walked.push(card.key);
    expect(walked).toEqual(items.map(({ key }) => key));
  }
  await api.world.rows(
    `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
     select org_id, gen_random_uuid(), project_id, 100 + n, 'Many', status, column_id, 'z' || lpad(n::text, 5, '0'), created_by
     from stories cross join generate_series(1, 1100) n where org_id = $1 and number = 1`,
    people.orgId,
  );
  await api.world.rows(
    `update board_columns set story_count = 1103 where org_id = $1 and status = 'ready'`,
    people.orgId,
  );
  const page = await dan.stories.list({ projectId: 'WEB', view: 'card', limit: 1000, status: 'ready' });
  expect([page.items.length, page.nextCursor === null]).toEqual([1000, false]);
  const ask = (params: object) =>
    refusalOf(dan.stories.list({ projectId: 'WEB', ...params } as Parameters<typeof dan.stories.list>[0]));
  for (const params of [{ limit: 201 }, { limit: 201, view: 'summary' }, { limit: 1001, view: 'card' }])
    expect(await ask(params)).toMatchObject({
      code: 'bad_request',
      details: { issues: [{ path: 'limit' }] },
    });
});
