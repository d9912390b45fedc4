/** Tests the inbox for work: who receives which item, without gaps, and how a caller waits for it (CONTRACT §9.2). */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type InboxItem, type NextCall } from '@muster/contract';
import { operations } from '@muster/registry';
import { type AllHandlers } from '@muster/operations';
import { type People, type Person } from '@muster/testing';
import { useApi } from './api.ts';
import { expireLeases, createOrgWithStory, target } from './one-story.ts';

const api = useApi();
const storyId = 'WEB-1';
let people: People<AllHandlers>;
/** Chloé's other agent, whose items are not Robo's. */
let scout: Person<AllHandlers>;

const itemsOf = async (who: Person<AllHandlers>, after?: number) =>
  (await who.agents.inbox({ ...(after !== undefined && { after }) })).items;
const kindsOf = async (who: Person<AllHandlers>) => (await itemsOf(who)).map(({ kind }) => kind);
const lastOf = async (who: Person<AllHandlers>) => (await itemsOf(who)).at(-1);

async function startWork(who: Person<AllHandlers>) {
  const { execution, leaseToken } = await who.deliveryExecutions.acquire({ ...target, start: true });
  return { executionId: execution.id, leaseToken };
}
async function submit(who: Person<AllHandlers>) {
  const own = await startWork(who);
  await who.deliveryExecutions.update({ ...own, git: { branch: 'topic' } });
  await who.deliveryExecutions.complete({ ...own, outcome: 'submitted' });
  return own;
}

/** Calls `next` and returns the refusal or the result; parameters that the contract rejects fail the test. */
async function follow(
  who: Person<AllHandlers>,
  item: InboxItem | undefined,
  more: object = {},
): Promise<unknown> {
  const next: NextCall | null = item !== undefined && 'next' in item ? item.next : null;
  const operation = operations.get(next?.operation ?? '');
  if (operation === undefined || next == null) throw new Error('no call to follow');
  const params = { ...next.params, ...more };
  operation.params.parse(params);
  const answer = await api.call(who.me.token, operation.name, params);
  return answer.body;
}

beforeEach(async () => {
  people = await createOrgWithStory(api);
  scout = await api.world.token(people.orgId, people.chloe.me.memberId, { agent: 'Scout' });
});

describe('agents.inbox', () => {
  it('brings the verdict to the agent that submitted the work, and how to go on', async () => {
    await submit(people.robo);
    await people.ana.reviewers.add({ storyId, memberId: people.ben.me.memberId });
    await people.ben.reviewers.setVerdict({ storyId, verdict: 'changes_requested', note: 'No retry' });
    const [item] = await itemsOf(people.robo);
    expect(item).toEqual({
      ...{ seq: 1, kind: 'verdict', at: expect.any(String), executionId: null },
      actor: expect.objectContaining({ name: 'Ben' }),
      story: expect.objectContaining({ key: 'WEB-1', title: 'A story' }),
      text: 'Ben requested changes on WEB-1: No retry',
      next: {
        operation: 'deliveryExecutions.acquire',
        params: { targetType: 'story', targetId: 'WEB-1', start: true },
      },
      startsRun: false,
    });
    expect(await follow(people.robo, item)).toMatchObject({ execution: { needsRework: true } });
    expect(await kindsOf(people.chloe)).toEqual([]);
    expect(await kindsOf(scout)).toEqual([]);
  });

  it('brings a stop and its end to the holder', async () => {
    const { executionId, leaseToken } = await startWork(people.robo);
    await people.ana.deliveryExecutions.update({ executionId, requestStop: true });
    await people.ana.deliveryExecutions.update({ executionId, requestStop: false });
    const items = await itemsOf(people.robo);
    expect(items).toMatchObject([
      { kind: 'stop', executionId, text: 'Ana asks you to stop the work on WEB-1' },
      { kind: 'stop_lifted', executionId },
    ]);
    const [stop] = items;
    expect(await follow(people.robo, stop, { leaseToken })).toMatchObject({
      execution: { state: 'available' },
    });
  });

  it('tells the agent whose stop a member lifts by taking the work', async () => {
    const { executionId } = await startWork(people.robo);
    await people.ana.deliveryExecutions.update({ executionId, requestStop: true });
    await people.chloe.deliveryExecutions.acquire({ ...target, takeOver: true });
    expect(await itemsOf(people.robo)).toMatchObject([
      { kind: 'stop' },
      { kind: 'stop_lifted', next: null },
      { kind: 'lease_lost' },
    ]);
  });

  it('names no call that would be refused', async () => {
    const { executionId } = await submit(people.robo);
    await people.ana.reviewers.add({ storyId, memberId: people.ben.me.memberId });
    const asks = { storyId, verdict: 'changes_requested', note: 'No retry' } as const;
    await people.ben.reviewers.setVerdict(asks);
    await startWork(people.robo);
    await people.ben.reviewers.setVerdict({ ...asks, note: 'Nor a test' });
    const [returned, again] = await itemsOf(people.robo);
    expect(returned).toMatchObject({ next: { operation: 'deliveryExecutions.acquire' } });
    // The work is held now, so it cannot be acquired.
    expect(again).toMatchObject({ next: { operation: 'storyCollaboration.context' } });
    expect(await follow(people.robo, again)).toMatchObject({ execution: { id: executionId } });

    const { epic } = await people.ana.epics.create({ projectId: 'WEB', title: 'Sign-in' });
    await people.ana.assignments.set({
      ...{ targetType: 'epic', targetId: epic.id, agentId: people.robo.me.agentId ?? '' },
    });
    expect(await lastOf(people.robo)).toMatchObject({ kind: 'assigned', next: null });
  });

  it('brings assignments, their end, and what is no longer blocked', async () => {
    const { story: blocker } = await people.ana.stories.create({ projectId: 'WEB', title: 'First' });
    await people.ana.stories.update({ storyId, blockedBy: [blocker.id] });
    await people.ana.assignments.set({ ...target, agentId: people.robo.me.agentId ?? '' });
    await people.ana.stories.updateStatus({ storyId: blocker.id, status: 'canceled' });
    await people.ana.assignments.clear(target);
    expect(await kindsOf(people.robo)).toEqual(['assigned', 'unblocked', 'unassigned']);
    await people.ana.assignments.set({ ...target, memberId: people.chloe.me.memberId });
    expect(await kindsOf(people.chloe)).toEqual(['assigned']);
  });

  it('brings mentions and questions to members and agents, with the text of the comment', async () => {
    const robo = (await people.chloe.agents.list()).items.find(({ id }) => id === people.robo.me.agentId);
    const { comment } = await people.ana.comments.create({
      ...{ storyId, body: `@${robo?.slug ?? ''} and @${people.ben.me.handle}: who tests it?` },
    });
    expect(comment.mentions).toEqual([
      { memberId: people.ben.me.memberId },
      { agentId: people.robo.me.agentId },
    ]);
    for (const who of [people.robo, people.ben])
      expect(await lastOf(who)).toMatchObject({
        kind: 'mention',
        text: expect.stringContaining('Ana mentioned you on WEB-1: @'),
        next: { operation: 'comments.create', params: { storyId: 'WEB-1', parentId: comment.id } },
      });

    const question = { storyId, kind: 'question', body: 'Which limit?' } as const;
    const asked = await people.ana.comments.create({ ...question, directedTo: `@${robo?.slug ?? ''}` });
    expect(asked.comment.directedTo).toBe(people.robo.me.agentId);
    const item = await lastOf(people.robo);
    expect(item).toMatchObject({ kind: 'question', text: 'Ana asks you a question on WEB-1: Which limit?' });
    await follow(people.robo, item, { body: '100' });
    expect(await lastOf(people.ana)).toMatchObject({
      kind: 'question_answered',
      text: expect.stringContaining('answered your question on WEB-1: 100'),
    });
  });

  it('mentions an agent once, also if a text that names it is edited', async () => {
    const body = '@scout please';
    const { comment } = await people.ana.comments.create({ storyId, body: 'Please' });
    await people.ana.comments.update({ commentId: comment.id, body, expectedVersion: comment.version });
    const { comment: edited } = await people.ana.comments.update({
      ...{ commentId: comment.id, body: `${body}!`, expectedVersion: comment.version + 1 },
    });
    expect(edited.mentions).toEqual([{ agentId: scout.me.agentId }]);
    expect(await kindsOf(scout)).toEqual(['mention']);
  });

  it('starts a run for an agent that a contributor assigns or mentions, and for no one else', async () => {
    const { ana, ben, chloe, dan, robo } = people;
    const body = '@scout please';
    await ana.assignments.set({ ...target, agentId: scout.me.agentId ?? '' });
    await chloe.comments.create({ storyId, body });
    await ana.comments.create({ storyId, kind: 'question', body: 'Which limit?', directedTo: '@scout' });
    // Neither agents nor viewers start a run, and a member's inbox starts none.
    await robo.comments.create({ storyId, body });
    await dan.comments.create({ storyId, body });
    await ana.assignments.set({ ...target, memberId: ben.me.memberId });
    const startedBy = async (who: Person<AllHandlers>) =>
      (await itemsOf(who)).map((item) => 'startsRun' in item && [item.kind, item.actor.name, item.startsRun]);
    expect(await startedBy(scout)).toEqual([
      ['assigned', 'Ana', true],
      ['mention', 'Chloé', true],
      ['question', 'Ana', false],
      ['mention', 'Robo', false],
      ['mention', 'Dan', false],
    ]);
    expect(await startedBy(ben)).toEqual([['assigned', 'Ana', false]]);
  });

  it('tells the holder of a changed spec, of a lost lease and of the merge', async () => {
    const own = await startWork(people.robo);
    await people.ana.storySpec.update({ storyId, content: 'More' });
    await people.chloe.deliveryExecutions.acquire({ ...target, takeOver: true });
    expect(await itemsOf(people.robo)).toMatchObject([
      { kind: 'spec_changed', next: { operation: 'storySpec.get', params: { storyId: 'WEB-1' } } },
      { kind: 'lease_lost', executionId: own.executionId },
    ]);
    const next = await submit(people.robo).catch(() => submit(people.chloe));
    await people.ana.deliveryExecutions.recordForgeObservation({
      executionId: next.executionId,
      observation: { kind: 'checks_failed', dedupeKey: 'c', observedAt: new Date().toISOString() },
    });
    await people.ana.deliveryExecutions.recordForgeObservation({
      executionId: next.executionId,
      observation: { kind: 'pr_merged', dedupeKey: 'm', observedAt: new Date().toISOString() },
    });
    expect(await kindsOf(people.chloe)).toEqual(['checks_failed', 'merged']);
  });

  it('tells of a lost lease on a group: of its work, and of its coordination', async () => {
    const { group } = await people.ana.deliveryGroups.create({
      ...{ projectId: 'WEB', name: 'Release', storyIds: [storyId] },
    });
    const groupId = group.id;
    const ofGroup = { targetType: 'delivery_group', targetId: groupId } as const;
    const lostBy = async (who: Person<AllHandlers>) =>
      (await itemsOf(who)).flatMap((item) => (item.kind === 'lease_lost' ? [item.text] : []));
    await people.ana.deliveryGroups.update({ groupId, state: 'active' });
    await people.robo.deliveryGroups.acquireLease({ groupId });
    await people.robo.deliveryExecutions.acquire(ofGroup);
    await expireLeases(api, people.orgId);
    await people.chloe.deliveryExecutions.acquire(ofGroup);
    await scout.deliveryGroups.acquireLease({ groupId });
    expect(await lostBy(people.robo)).toEqual([
      'Chloé took over the work on Release',
      'Scout took over the coordination of Release',
    ]);
    await expireLeases(api, people.orgId);
    await people.ana.deliveryGroups.update({ groupId, state: 'abandoned' });
    expect(await lostBy(people.chloe)).toEqual(['Ana abandoned Release']);
    expect(await lostBy(scout)).toEqual(['Ana ended the coordination of Release, which is abandoned']);
    expect(await lostBy(people.robo)).toHaveLength(2);
  });

  it('never contains what its recipient did, nor anything of a project that it may not see', async () => {
    await people.chloe.assignments.set({ ...target, memberId: people.chloe.me.memberId });
    expect(await kindsOf(people.chloe)).toEqual([]);
    await people.ana.comments.create({ storyId, body: `@${people.dan.me.handle} look` });
    expect(await kindsOf(people.dan)).toEqual(['mention']);
    await people.ana.projects.update({ projectId: 'WEB', visibility: 'private' });
    expect(await itemsOf(people.dan)).toEqual([{ seq: 1, kind: 'withheld', at: expect.any(String) }]);
    expect((await people.dan.agents.inbox({ kinds: ['mention'] })).items).toEqual([]);
    await people.ana.comments.create({ storyId, body: `@${people.dan.me.handle} look again` });
    expect(await itemsOf(people.dan)).toHaveLength(1);
  });

  it('continues from its cursor and filters by kind', async () => {
    for (const body of ['@scout one', '@scout two', '@scout three'])
      await people.ana.comments.create({ storyId, body });
    await people.ana.assignments.set({ ...target, agentId: scout.me.agentId ?? '' });
    const first = await scout.agents.inbox({ limit: 2 });
    expect([first.items.map(({ seq }) => seq), first.cursor]).toEqual([[1, 2], 2]);
    const rest = await scout.agents.inbox({ after: first.cursor });
    expect([rest.items.map(({ seq }) => seq), rest.cursor]).toEqual([[3, 4], 4]);
    const assigned = await scout.agents.inbox({ kinds: ['assigned'] });
    expect([assigned.items.map(({ seq }) => seq), assigned.cursor]).toEqual([[4], 4]);
    expect(await scout.agents.inbox({ after: 4 })).toEqual({ items: [], cursor: 4 });
  });

  it('has no gap when many write to it at the same time', async () => {
    const wanted = Array.from({ length: 12 }, (_, index) => `@scout ${index}`);
    await Promise.all(wanted.map((body) => people.ana.comments.create({ storyId, body })));
    expect((await itemsOf(scout)).map(({ seq }) => seq)).toEqual(wanted.map((_, index) => index + 1));
  });

  it('wakes who waits, first of an empty inbox', async () => {
    for (const _ of [1, 2]) {
      const { cursor } = await scout.agents.inbox();
      const waiting = scout.agents.inbox({ after: cursor, waitSeconds: 25 });
      await people.ana.comments.create({ storyId, body: '@scout now' });
      expect((await waiting).items).toMatchObject([{ seq: cursor + 1, kind: 'mention' }]);
    }
  });
});

describe('session.identity', () => {
  it('lists the work that the calling agent holds, and not that of its member', async () => {
    const { executionId } = await startWork(people.robo);
    const { holding } = await people.robo.session.identity();
    expect(holding).toEqual([
      {
        ...{ key: 'WEB-1', title: 'A story', executionId, runId: null, state: 'leased' },
        expiresAt: expect.any(String),
      },
    ]);
    expect((await people.chloe.session.identity()).holding).toEqual([]);
    await api.world.rows(
      `update leases set expires_at = now() - interval '1 s' where org_id = $1`,
      people.orgId,
    );
    expect((await people.robo.session.identity()).holding).toMatchObject([{ state: 'stalled' }]);
  });
});

it('gives a name once: to a member or to an agent of the organization', async () => {
  const { agent } = await people.ben.agents.create({ name: 'Scout' });
  expect(agent.slug).toBe('scout-2');
  expect((await people.ben.agents.create({ name: 'Other', slug: people.ana.me.handle })).agent.slug).toBe(
    `${people.ana.me.handle}-2`,
  );
  await expect(people.ben.agents.create({ name: 'Third', slug: 'scout-2' })).rejects.toMatchObject({
    reason: 'already_exists',
  });
});
