/**
 * Tests that a reviewer who requests changes sends submitted work back. The work stays in rework while a
 * request for changes that is not stale remains (CONTRACT §9.2).
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { internalBoardHandlers } from '@muster/board';
import { internalHandlers } from '@muster/delivery';
import { handlers, reactions } from '@muster/operations';
import { type PeopleOf, useWorld } from '@muster/testing';

const world = useWorld(
  { ...handlers, insideBoard: internalBoardHandlers, insideHandlers: internalHandlers },
  reactions,
);
const storyId = 'WEB-1';
type Target = { readonly targetType: 'story' | 'delivery_group'; readonly targetId: string };
const target: Target = { targetType: 'story', targetId: storyId };
const sha = (letter: string): string => letter.repeat(40);
let people: PeopleOf<typeof world>;
let executionId: string;

const fetchExecution = async () => (await people.ana.deliveryExecutions.get({ executionId })).execution;
const statusOf = async () => (await people.ana.stories.get({ storyId })).story.status;
const requestRework = (note = 'The retry is missing') =>
  people.ben.reviewers.setVerdict({ storyId, verdict: 'changes_requested', note });

async function submit(headSha: string | undefined, of: Target = target): Promise<void> {
  const taken = await people.robo.deliveryExecutions.acquire({ ...of, start: of.targetType === 'story' });
  executionId = taken.execution.id;
  const grip = { executionId, leaseToken: taken.leaseToken };
  await people.robo.deliveryExecutions.update({ ...grip, git: { branch: 'topic', headSha } });
  await people.robo.deliveryExecutions.complete({ ...grip, outcome: 'submitted' });
}

beforeEach(async () => {
  people = await world.org();
  await people.chloe.projects.create({ key: 'WEB', name: 'Web', visibility: 'org' });
  await people.chloe.stories.create({ projectId: 'WEB', title: 'Passkeys', status: 'ready' });
  await people.chloe.reviewers.add({ storyId, memberId: people.ben.me.memberId });
  await submit(sha('a'));
});

it('says why, by whom and of what, and offers the work again, which starts in progress', async () => {
  expect(await fetchExecution()).toMatchObject({ state: 'submitted', needsRework: false, rework: null });
  await requestRework();
  expect(await fetchExecution()).toMatchObject({
    ...{ state: 'submitted', needsRework: true },
    rework: {
      ...{ note: 'The retry is missing', by: { name: 'Ben' }, source: 'muster' },
      ...{ specVersion: 0, headSha: sha('a'), at: expect.stringMatching(/Z$/) },
    },
  });
  const { items } = await people.ana.activity.list({ kinds: ['execution.reworkRequested'] });
  expect(items).toMatchObject([{ subject: { key: storyId }, data: { executionId } }]);
  expect(await statusOf()).toBe('in_review');
  const { execution } = await people.robo.deliveryExecutions.acquireNext({ projectId: 'WEB' });
  expect(execution).toMatchObject({ id: executionId, needsRework: true, rework: { source: 'muster' } });
  expect(await statusOf()).toBe('in_progress');
});

it('starts in progress when its holder names it, too', async () => {
  await requestRework();
  await people.robo.deliveryExecutions.acquire({ ...target, start: true });
  expect(await statusOf()).toBe('in_progress');
});

it('stays in review when it is taken without a start', async () => {
  await requestRework();
  await people.robo.deliveryExecutions.acquireNext({ projectId: 'WEB', start: false });
  expect(await statusOf()).toBe('in_review');
});

it('ends when the work is handed in again, with other code', async () => {
  await requestRework();
  await submit(sha('b'));
  expect(await fetchExecution()).toMatchObject({ state: 'submitted', needsRework: false, rework: null });
  await requestRework('Still missing');
  expect(await fetchExecution()).toMatchObject({ needsRework: true, rework: { headSha: sha('b') } });
});

it('ends when the reviewer approves or takes it back, and not while another still asks', async () => {
  await people.chloe.reviewers.add({ storyId, memberId: people.ana.me.memberId });
  await requestRework();
  await people.ana.reviewers.setVerdict({ storyId, verdict: 'changes_requested', note: 'Also here' });
  expect(await fetchExecution()).toMatchObject({ rework: { note: 'Also here', by: { name: 'Ana' } } });
  await people.ben.reviewers.setVerdict({ storyId, verdict: 'approved' });
  expect(await fetchExecution()).toMatchObject({ needsRework: true, rework: { by: { name: 'Ana' } } });
  await requestRework('Not yet');
  expect(await fetchExecution()).toMatchObject({ rework: { by: { name: 'Ben' } } });
  await people.ben.reviewers.setVerdict({ storyId, verdict: 'approved' });
  expect(await fetchExecution()).toMatchObject({
    needsRework: true,
    rework: { note: 'Also here', by: { name: 'Ana' }, headSha: sha('a') },
  });
  await people.chloe.reviewers.remove({ storyId, memberId: people.ana.me.memberId });
  expect(await fetchExecution()).toMatchObject({ needsRework: false, rework: null });
});

it('ends although an imported request for changes is left', async () => {
  await people.chloe.reviewers.add({ storyId, memberId: people.ana.me.memberId });
  await people.ana.reviewers.setVerdict({ storyId, verdict: 'changes_requested', note: 'Elsewhere' });
  await world.rows(
    `update story_reviewers set imported_by = '{}', imported_from = 'muster' where org_id = $1 and note = 'Elsewhere'`,
    people.orgId,
  );
  await requestRework();
  await people.ben.reviewers.setVerdict({ storyId, verdict: 'approved' });
  expect(await fetchExecution()).toMatchObject({ needsRework: false, rework: null });
});

it('ends when the head moves, and stays through facts that move nothing', async () => {
  await requestRework();
  const observe = (kind: 'checks_passed' | 'branch_pushed', head: string) =>
    people.chloe.deliveryExecutions.recordForgeObservation({
      executionId,
      observation: {
        kind,
        dedupeKey: `${kind} ${head}`,
        ref: 'topic',
        sha: head,
        observedAt: new Date().toISOString(),
      },
    });
  await observe('checks_passed', sha('a'));
  expect(await fetchExecution()).toMatchObject({ needsRework: true, rework: { source: 'muster' } });
  await observe('branch_pushed', sha('c'));
  expect(await fetchExecution()).toMatchObject({ needsRework: false, rework: null });
});

it('leaves work alone that a holder has, which hears of it by a signal', async () => {
  const taken = await people.chloe.deliveryExecutions.acquire(target);
  await requestRework();
  expect(await fetchExecution()).toMatchObject({ state: 'leased', rework: null });
  const { signals } = await people.chloe.deliveryExecutions.renew({
    executionId,
    leaseToken: taken.leaseToken,
  });
  expect(signals.map(({ kind }) => kind)).toContain('review_verdict');
});

it('stays when the same head is handed in again, and ends with the verdict', async () => {
  await requestRework();
  await submit(sha('a'));
  expect(await fetchExecution()).toMatchObject({
    ...{ state: 'submitted', needsRework: true },
    rework: { note: 'The retry is missing', by: { name: 'Ben' }, source: 'muster', headSha: sha('a') },
  });
  await people.ben.reviewers.setVerdict({ storyId, verdict: 'pending' });
  expect(await fetchExecution()).toMatchObject({ needsRework: false, rework: null });
});

it('begins with a hand-in of the code for which changes were requested while it was held', async () => {
  await people.robo.deliveryExecutions.acquire({ ...target, start: true });
  await requestRework();
  await submit(sha('a'));
  expect(await fetchExecution()).toMatchObject({ needsRework: true, rework: { by: { name: 'Ben' } } });
});

it('stays when the same head is handed in again that a reviewer at the forge wants changed', async () => {
  const observe = (kind: 'changes_requested' | 'branch_pushed', head: string) =>
    people.chloe.deliveryExecutions.recordForgeObservation({
      executionId,
      observation: { kind, dedupeKey: kind, ref: 'topic', sha: head, observedAt: new Date().toISOString() },
    });
  await observe('changes_requested', sha('a'));
  await submit(sha('a'));
  expect(await fetchExecution()).toMatchObject({ needsRework: true, rework: { source: 'forge' } });
  await submit(sha('b'));
  expect(await fetchExecution()).toMatchObject({ needsRework: false, rework: null });
});

it('ends when the spec changes, and does not begin with a verdict on an older one', async () => {
  await requestRework();
  await people.chloe.storySpec.update({ storyId, content: 'Retry twice.' });
  expect(await fetchExecution()).toMatchObject({ needsRework: false, rework: null });
  await people.ben.reviewers.setVerdict({
    ...{ storyId, verdict: 'changes_requested', note: 'Once is enough', specVersion: 0 },
  });
  expect(await fetchExecution()).toMatchObject({ needsRework: false, rework: null });
  const { items } = await people.ana.activity.list({ kinds: ['execution.reworkRequested'] });
  expect(items).toHaveLength(1);
});

it('stands in the context with the note and the open threads', async () => {
  expect((await people.robo.storyCollaboration.context({ storyId })).rework).toBeNull();
  await people.ben.comments.create({ storyId, body: 'See line 7.' });
  await requestRework();
  const { rework, truncated } = await people.robo.storyCollaboration.context({
    ...{ storyId, include: ['rework'] },
  });
  expect(rework).toMatchObject({
    ...{ note: 'The retry is missing', by: { name: 'Ben' }, headSha: sha('a') },
    openThreads: [{ body: 'See line 7.', replies: [] }],
  });
  expect(truncated).toEqual([]);
});

it('is offered to the agent that handed it in, before other work, and after ten minutes to all', async () => {
  // An earlier holder is not the one who submitted the work.
  const { leaseToken } = await people.ana.deliveryExecutions.acquire({ ...target });
  await people.ana.deliveryExecutions.release({ executionId, leaseToken });
  await submit(sha('a'));
  const other = await people.chloe.stories.create({ projectId: 'WEB', title: 'Urgent', status: 'ready' });
  await people.chloe.stories.update({ storyId: other.story.id, priority: 'urgent' });
  await requestRework();
  const next = (who: 'ana' | 'robo', start = false) =>
    people[who].deliveryExecutions.acquireNext({ projectId: 'WEB', start });
  const passed = await next('ana');
  expect(passed.execution?.targetId).toBe(other.story.id);
  expect(passed.skipped).toMatchObject([{ key: storyId, reasons: ['reserved'] }]);
  const taken = await next('robo');
  expect(taken.execution?.id).toBe(executionId);
  await people.robo.deliveryExecutions.release({ executionId, leaseToken: taken.leaseToken ?? '' });
  expect((await next('ana')).execution).toBeNull();
  await world.rows(
    `update executions set rework = rework || jsonb_build_object('at', now() - interval '11 minutes') where id = $1`,
    executionId,
  );
  expect((await next('ana')).execution?.id).toBe(executionId);
});

describe('of a delivery group', () => {
  beforeEach(async () => {
    await people.chloe.stories.create({ projectId: 'WEB', title: 'Recovery', status: 'ready' });
    await people.chloe.stories.create({ projectId: 'WEB', title: 'Devices', status: 'ready' });
    await people.chloe.reviewers.add({ storyId: 'WEB-2', memberId: people.ben.me.memberId });
    await people.chloe.reviewers.add({ storyId: 'WEB-3', memberId: people.ben.me.memberId });
    const { group } = await people.chloe.deliveryGroups.create({
      ...{ projectId: 'WEB', name: 'Accounts', storyIds: ['WEB-2', 'WEB-3'] },
    });
    await submit(sha('a'), { targetType: 'delivery_group', targetId: group.id });
  });
  const say = (on: string, verdict: 'changes_requested' | 'approved', note = `${on} fails`) =>
    people.ben.reviewers.setVerdict({ storyId: on, verdict, note });

  it('is sent back by a request on one of its stories, until none of them has a fresh one', async () => {
    await say('WEB-2', 'changes_requested');
    expect(await fetchExecution()).toMatchObject({ needsRework: true, rework: { note: 'WEB-2 fails' } });
    await say('WEB-3', 'changes_requested');
    await say('WEB-3', 'approved');
    expect(await fetchExecution()).toMatchObject({ needsRework: true, rework: { note: 'WEB-2 fails' } });
    await say('WEB-2', 'approved');
    expect(await fetchExecution()).toMatchObject({ needsRework: false, rework: null });
  });

  it('needs rework again when the same code is submitted again, and not with other code', async () => {
    const { targetType, targetId } = await fetchExecution();
    await say('WEB-3', 'changes_requested');
    await submit(sha('a'), { targetType, targetId });
    expect(await fetchExecution()).toMatchObject({ state: 'submitted', rework: { note: 'WEB-3 fails' } });
    await submit(sha('b'), { targetType, targetId });
    expect(await fetchExecution()).toMatchObject({ needsRework: false, rework: null });
  });
});
