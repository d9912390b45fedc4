/**
 * A verdict applies to the code that was reviewed. After a report of different code, earlier approvals do not
 * count.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type InputOf } from '@muster/contract';
import { type registry } from '@muster/registry';
import { type AllHandlers } from '@muster/operations';
import { type People, type Person } from '@muster/testing';
import { useApi } from './api.ts';
import { createOrgWithStory, target } from './one-story.ts';

const api = useApi();
let people: People<AllHandlers>;
let held: { executionId: string; leaseToken: string };

const [a, b, c] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [string, string, string];
const storyId = 'WEB-1';

async function acquire(who: Person<AllHandlers>) {
  const { execution, leaseToken } = await who.deliveryExecutions.acquire(target);
  return { executionId: execution.id, leaseToken };
}

beforeEach(async () => {
  people = await createOrgWithStory(api);
  await people.ana.policy.update({ requiredApprovals: 1 });
  held = await acquire(people.chloe);
  await people.ana.reviewers.add({ storyId, memberId: people.ben.me.memberId });
});

const approve = async (named: { headSha?: string } = {}) =>
  (await people.ben.reviewers.setVerdict({ storyId, verdict: 'approved', ...named })).reviewer;
const reportGitState = (git: { headSha?: string; diffHash?: string }) =>
  people.chloe.deliveryExecutions.update({ ...held, git });
type Observation = InputOf<typeof registry.deliveryExecutions.recordForgeObservation>['observation'];
/**
 * Records an observation of the forge, at this many minutes after nine. All of these times are before the
 * test's own actions.
 */
const observe = (kind: Observation['kind'], minute: number, sha?: string, executionId = held.executionId) =>
  people.ana.deliveryExecutions.recordForgeObservation({
    executionId,
    observation: {
      dedupeKey: `${kind} ${minute} ${sha}`,
      kind,
      observedAt: `2026-11-21T09:${minute}:00.000Z`,
      ...(sha !== undefined && { sha }),
    },
  });
const finish = () => people.ana.stories.updateStatus({ storyId, status: 'done' });
const standing = async () => {
  const { items } = await people.dan.reviewers.list({ storyId });
  const mine = await people.ben.reviewers.listForUser();
  const context = await people.dan.storyCollaboration.context({ storyId, include: ['reviewers'] });
  expect([mine.items, context.reviewers]).toEqual([items, items]);
  return items.map(({ stale, underReview }) => [stale, underReview.headSha]);
};
async function expectStale(headSha: string | null) {
  expect(await standing()).toEqual([[true, headSha]]);
  await expect(finish()).rejects.toMatchObject({ status: 422, reason: 'policy' });
  expect((await people.ana.stories.get({ storyId })).story.status).not.toBe('done');
}

describe('an approval of a head and its diff', () => {
  const diffHash = 'same';
  const tellings: [string, () => Promise<unknown>][] = [
    ['the holder', () => reportGitState({ headSha: b, diffHash })],
    ['a member', () => people.ana.stories.updateGitMeta({ storyId, git: { headSha: b, diffHash } })],
  ];

  it.each(tellings)('stays fresh when %s tells of another head with the same diff', async (_who, rebase) => {
    await reportGitState({ headSha: a, diffHash });
    await approve();
    await rebase();
    expect(await standing()).toEqual([[false, b]]);
  });

  it.each(tellings)('is stale by it where the forge has to prove merges: %s', async (_who, rebase) => {
    await reportGitState({ headSha: a, diffHash });
    await people.ana.policy.update({ mergeProof: 'verified' });
    await people.ben.reviewers.setVerdict({ storyId, verdict: 'approved', diffHash });
    await rebase();
    await expectStale(b);
  });
});

describe('an approval of head a', () => {
  const news: [string, () => Promise<unknown>][] = [
    ['a member tells of b', () => people.chloe.stories.updateGitMeta({ storyId, git: { headSha: b } })],
    ['the holder tells of b', () => reportGitState({ headSha: b })],
    [
      "the holder's checkpoint names b",
      () => people.chloe.deliveryExecutions.checkpoint({ ...held, summary: 'More', headSha: b }),
    ],
    ['the forge sees a push of b', () => observe('branch_pushed', 10, b)],
    ['the forge sees a pull request opened on b', () => observe('pr_opened', 10, b)],
    ['the forge sees a pull request updated to b', () => observe('pr_updated', 10, b)],
  ];

  it.each(news)('is stale once %s, and opens nothing', async (_what, happen) => {
    await reportGitState({ headSha: a });
    expect(await approve()).toMatchObject({ stale: false, headSha: a });
    await happen();
    await expectStale(b);
    expect(await approve({ headSha: b })).toMatchObject({ stale: false });
    expect((await finish()).story.status).toBe('done');
  });

  it.each(news)('that nobody told of before is stale as well once %s', async (_what, happen) => {
    await approve({ headSha: a });
    await happen();
    await expectStale(b);
  });

  it.each(news)('given before there was any code is stale once %s', async (_what, happen) => {
    await approve();
    await happen();
    await expectStale(b);
  });

  it('holds while a is told of again, by whomever', async () => {
    await reportGitState({ headSha: a });
    await approve();
    await observe('branch_pushed', 10, a);
    await observe('pr_opened', 11, a.slice(0, 12));
    await observe('checks_passed', 12, c);
    await observe('pr_merged', 13, c);
    await people.chloe.deliveryExecutions.checkpoint({ ...held, summary: 'Same', headSha: a });
    expect(await standing()).toEqual([[false, a]]);
  });

  it('stays stale when a comes back', async () => {
    await observe('branch_pushed', 10, a);
    await approve();
    await observe('branch_pushed', 11, b);
    await observe('branch_pushed', 12, a);
    await expectStale(a);
  });

  it('is stale after a push that does not say of what', async () => {
    await observe('branch_pushed', 10, a);
    await approve();
    await observe('branch_pushed', 11);
    await expectStale(null);
  });

  it('is stale when a member tells again of what others left behind', async () => {
    const { stories } = people.chloe;
    await stories.updateGitMeta({ storyId, git: { headSha: a } });
    await reportGitState({ headSha: b });
    await approve();
    await stories.updateGitMeta({ storyId, git: { headSha: a } });
    await expectStale(a);
  });

  it('is stale once the story joins a group on which there is work with other code', async () => {
    await approve();
    await people.chloe.deliveryExecutions.release(held);
    const { story } = await people.ana.stories.create({ projectId: 'WEB', title: 'Other', status: 'ready' });
    const { group } = await people.ana.deliveryGroups.create({
      ...{ projectId: 'WEB', name: 'Both', storyIds: [story.id] },
    });
    const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire({
      ...{ targetType: 'delivery_group', targetId: group.id },
    });
    await people.chloe.deliveryExecutions.update({
      ...{ executionId: execution.id, leaseToken, git: { headSha: b } },
    });
    await people.chloe.deliveryGroups.replaceStories({ groupId: group.id, storyIds: [story.id, storyId] });
    await expectStale(b);
  });

  it('is stale once work on a group of the story has other code', async () => {
    await reportGitState({ headSha: a });
    await people.chloe.deliveryExecutions.release(held);
    const { group } = await people.ana.deliveryGroups.create({
      ...{ projectId: 'WEB', name: 'Both', storyIds: [storyId] },
    });
    const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire({
      targetType: 'delivery_group',
      targetId: group.id,
    });
    await approve();
    await people.chloe.deliveryExecutions.update({
      ...{ executionId: execution.id, leaseToken },
      git: { headSha: b },
    });
    await expectStale(b);
  });
});

describe('what the forge saw', () => {
  it('is folded by when it saw it: a late fact turns no head back', async () => {
    await observe('pr_updated', 20, b);
    await approve();
    for (const late of [await observe('branch_pushed', 10, a), await observe('pr_opened', 11, c)])
      expect(late.execution.git).toMatchObject({ headSha: b });
    expect(await standing()).toEqual([[false, b]]);
    await finish();
  });

  it('does not bring back what the holder left behind', async () => {
    await reportGitState({ headSha: a });
    await reportGitState({ headSha: b });
    await approve();
    const { execution } = await observe('branch_pushed', 10, a);
    expect(execution.git?.headSha).toBe(b);
    expect(await standing()).toEqual([[false, b]]);
  });

  it('moves the head with a pull request, too', async () => {
    await observe('pr_opened', 10, a);
    expect((await observe('pr_updated', 11, b)).execution.git).toMatchObject({ headSha: b });
  });

  it('is not taken from more than five minutes ahead of the server, where it would hold for good', async () => {
    const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
    const seen = (observedAt: string) =>
      people.ana.deliveryExecutions.recordForgeObservation({
        executionId: held.executionId,
        observation: { dedupeKey: observedAt, kind: 'pr_closed', observedAt },
      });
    for (const observedAt of ['2199-01-01T00:00:00.000Z', at(400)]) {
      await expect(seen(observedAt)).rejects.toMatchObject({
        status: 400,
        body: { details: { issues: [{ path: 'observation.observedAt' }] } },
      });
    }
    expect(await seen(at(120))).toMatchObject({ recorded: true });
    const { rows } = api.world;
    expect(await rows('select from forge_observations where org_id = $1', people.orgId)).toHaveLength(1);
  });
});

describe('a project that is archived under a holder', () => {
  it('lets it renew and let go, and do nothing else', async () => {
    const { lock } = await people.chloe.locks.acquire({ projectId: 'WEB', resources: ['src/**'] });
    await people.ana.projects.update({ projectId: 'WEB', archived: true });
    const { deliveryExecutions: work, locks } = people.chloe;
    expect((await work.renew(held)).execution.state).toBe('leased');
    const archived = { status: 422, reason: 'archived' };
    await expect(work.checkpoint({ ...held, summary: 'More' })).rejects.toMatchObject(archived);
    await expect(reportGitState({ headSha: b })).rejects.toMatchObject(archived);
    await expect(work.complete({ ...held, outcome: 'succeeded' })).rejects.toMatchObject(archived);
    expect((await work.release(held)).execution.state).toBe('available');
    await expect(acquire(people.chloe)).rejects.toMatchObject(archived);
    expect(await locks.release({ lockId: lock?.id ?? '' })).toEqual({ deleted: true });
  });
});

describe('a token that no longer holds the lease', () => {
  it('tells of no code', async () => {
    await reportGitState({ headSha: a });
    await approve();
    const old = held;
    await people.chloe.deliveryExecutions.release(held);
    await expect(
      people.chloe.deliveryExecutions.update({ ...old, git: { headSha: b } }),
    ).rejects.toMatchObject({ reason: 'stale_lease' });
    expect(await standing()).toEqual([[false, a]]);
  });
});

describe('the ways into done', () => {
  const merge = (who: Person<AllHandlers>) =>
    who.deliveryExecutions.recordForgeObservation({
      executionId: held.executionId,
      observation: { dedupeKey: 'm', kind: 'pr_merged', observedAt: '2026-11-21T09:30:00.000Z' },
    });
  const statusNow = async () => (await people.ana.stories.get({ storyId })).story.status;
  const unmet = (gate: string) => ({ status: 422, body: { details: { unmet: [{ gate }] } } });

  it('need the merge where the policy asks for it, and are open with it', async () => {
    await people.ana.policy.update({
      ...{ requiredApprovals: 0, requireMergeProof: true, completeStoryOnMerge: false },
    });
    await expect(finish()).rejects.toMatchObject(unmet('requireMergeProof'));
    await merge(people.ana);
    expect((await finish()).story.status).toBe('done');
  });

  it('are open to the merge itself', async () => {
    await people.ana.policy.update({ requiredApprovals: 0, requireMergeProof: true });
    await merge(people.ana);
    expect(await statusNow()).toBe('done');
    await people.ana.stories.updateStatus({ storyId, status: 'ready' });
    await people.chloe.deliveryExecutions.complete({ ...held, outcome: 'succeeded' });
    held = await acquire(people.chloe);
    // After the story was reopened and acquired again, the new work needs a merge of its own.
    await expect(finish()).rejects.toMatchObject(unmet('requireMergeProof'));
  });

  it('are not open to the merge that an agent reports, where agents may not complete', async () => {
    await people.ana.policy.update({ requiredApprovals: 0, agentsMayComplete: false });
    expect(await merge(people.robo)).toMatchObject({ recorded: true });
    expect(await statusNow()).toBe('ready');
  });

  it('let no agent land a group, where agents may not complete', async () => {
    await people.ana.policy.update({ agentsMayComplete: false });
    await people.chloe.deliveryExecutions.release(held);
    const { group } = await people.ana.deliveryGroups.create({
      ...{ projectId: 'WEB', name: 'Both', storyIds: [storyId] },
    });
    const moveTo = (who: Person<AllHandlers>, state: 'active' | 'in_review' | 'landed') =>
      who.deliveryGroups.update({ groupId: group.id, state });
    for (const state of ['active', 'in_review'] as const) await moveTo(people.robo, state);
    await expect(moveTo(people.robo, 'landed')).rejects.toMatchObject(unmet('agentsMayComplete'));
    await moveTo(people.ana, 'landed');
  });

  it('count nobody for a reviewer who worked on the group of the story', async () => {
    await people.chloe.deliveryExecutions.release(held);
    const { group } = await people.ana.deliveryGroups.create({
      ...{ projectId: 'WEB', name: 'Both', storyIds: [storyId] },
    });
    await people.ben.deliveryExecutions.acquire({ targetType: 'delivery_group', targetId: group.id });
    await expect(approve()).rejects.toMatchObject(unmet('authorMayApprove'));
  });
});
