import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Story } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { assignments } from '../assignments/handlers.ts';
import { stories } from '../stories/handlers.ts';
import { storySpec } from '../storySpec/handlers.ts';
import { reviewers } from './handlers.ts';

const world = useWorld({ reviewers, stories, storySpec, assignments });

let people: PeopleOf<typeof world>;
let board: TestBoard;
let story: Story;
const arrangeStory = async (policy: Parameters<typeof world.org>[0] = {}) => {
  people = await world.org(policy);
  board = await arrangeBoard(world, people.orgId);
  ({ story } = await people.ana.stories.create({ projectId: board.projectId, title: 'Passkeys' }));
};
beforeEach(() => arrangeStory());

const idOf = (person: PersonOf<typeof world>) => person.me.memberId;
const agentOf = (person: PersonOf<typeof world>) => person.me.agentId ?? '';
const add = (who: { memberId: string } | { agentId: string }) =>
  people.ana.reviewers.add({ storyId: story.id, ...who });
const setVerdict = async (who: PersonOf<typeof world>, params: object) =>
  (await who.reviewers.setVerdict({ storyId: story.id, verdict: 'approved', ...params })).reviewer;
const listReviewers = async () => (await people.dan.reviewers.list({ storyId: story.id })).items;
const listEvents = () =>
  world.rows(
    `select kind, data from activity where org_id = $1 and kind like 'review.%' order by seq`,
    people.orgId,
  );

const firstHeadSha = 'aaaaaaaa11';
const secondHeadSha = 'bbbbbbbb22';

describe('reviewers.setVerdict', () => {
  it('keeps what a reviewer said, and of which spec and code, and says so', async () => {
    const { ben } = people;
    await add({ memberId: idOf(ben) });
    await ben.storySpec.update({ storyId: story.id, content: 'a\n' });
    await ben.stories.updateGitMeta({ storyId: story.id, git: { headSha: firstHeadSha, diffHash: 'd1' } });
    const { reviewer } = await ben.reviewers.setVerdict({
      storyId: 'web-1',
      verdict: 'changes_requested',
      note: 'Name the fallback.',
    });
    expect(boardRegistry.reviewers.setVerdict.result.parse({ reviewer })).toEqual({ reviewer });
    expect(reviewer).toMatchObject({
      reviewer: { kind: 'member', id: idOf(ben) },
      verdict: 'changes_requested',
      stale: false,
      note: 'Name the fallback.',
      specVersion: 1,
      headSha: firstHeadSha,
      diffHash: 'd1',
      decidedAt: reviewer.updatedAt,
      version: 2,
    });
    expect(await listReviewers()).toEqual([reviewer]);
    expect(await listEvents()).toEqual([
      { kind: 'review.decided', data: { verdict: 'changes_requested', note: 'Name the fallback.' } },
    ]);
  });

  it('replaces the verdict before, note and all, and pending takes it back', async () => {
    const { ben } = people;
    await add({ memberId: idOf(ben) });
    await setVerdict(ben, { verdict: 'commented', note: 'Hm.' });
    expect(await setVerdict(ben, {})).toMatchObject({ verdict: 'approved', note: null, version: 3 });
    expect(await setVerdict(ben, { verdict: 'pending', note: 'On second thought' })).toMatchObject({
      verdict: 'pending',
      note: null,
      specVersion: null,
      decidedAt: null,
      version: 4,
    });
    expect(await listEvents()).toEqual([
      { kind: 'review.decided', data: { verdict: 'commented', note: 'Hm.' } },
      { kind: 'review.decided', data: { verdict: 'approved', note: null } },
      { kind: 'review.retracted', data: { previousVerdict: 'approved' } },
    ]);
  });

  it('changes nothing and says nothing when nothing is new', async () => {
    const { ben } = people;
    await add({ memberId: idOf(ben) });
    expect(await setVerdict(ben, { verdict: 'pending' })).toMatchObject({ version: 1 });
    const first = await setVerdict(ben, { note: 'Good.' });
    expect(await setVerdict(ben, { note: 'Good.' })).toEqual(first);
    expect(await listEvents()).toHaveLength(1);
    await ben.storySpec.update({ storyId: story.id, content: 'a\n' });
    expect(await setVerdict(ben, { note: 'Good.' })).toMatchObject({
      specVersion: 1,
      version: 3,
      stale: false,
    });
    expect(await listEvents()).toHaveLength(2);
  });

  it('is for reviewers alone: not for an agent whose member is one, nor for the member whose agent is', async () => {
    const { ana, chloe, robo } = people;
    await add({ memberId: idOf(chloe) });
    for (const who of [ana, robo]) {
      await expect(setVerdict(who, {})).rejects.toMatchObject({
        status: 403,
        body: { details: { reason: 'not_a_reviewer' } },
      });
    }
    await ana.reviewers.remove({ storyId: story.id, memberId: idOf(chloe) });
    await add({ agentId: agentOf(robo) });
    await expect(setVerdict(chloe, {})).rejects.toMatchObject({ status: 403 });
    expect(await setVerdict(robo, {})).toMatchObject({ reviewer: { kind: 'agent', id: agentOf(robo) } });
  });

  it('lets a viewer review who was asked to', async () => {
    await add({ memberId: idOf(people.dan) });
    expect(await setVerdict(people.dan, {})).toMatchObject({ verdict: 'approved' });
  });

  it('wants to know which changes are requested', async () => {
    await add({ memberId: idOf(people.ben) });
    for (const note of [undefined, ' \n']) {
      await expect(setVerdict(people.ben, { verdict: 'changes_requested', note })).rejects.toMatchObject({
        status: 400,
        body: { details: { issues: [{ path: 'note' }] } },
      });
    }
  });

  it('takes no verdict on a spec that is not there yet, on a story nobody can see, or in an archived project', async () => {
    const { ana, ben, chloe } = people;
    await add({ memberId: idOf(ben) });
    await add({ memberId: idOf(chloe) });
    await expect(setVerdict(ben, { specVersion: 1 })).rejects.toMatchObject({ status: 404 });
    await world.rows(`update projects set visibility = 'private' where id = $1`, board.projectId);
    await expect(setVerdict(chloe, {})).rejects.toMatchObject({ status: 404 });
    await expect(ana.reviewers.setVerdict({ storyId: 'WEB-9', verdict: 'approved' })).rejects.toMatchObject({
      status: 404,
    });
    await world.rows('update projects set archived_at = now() where id = $1', board.projectId);
    await expect(setVerdict(ben, {})).rejects.toMatchObject({ reason: 'archived' });
    const given = `select from story_reviewers where org_id = $1 and verdict <> 'pending'`;
    expect(await world.rows(given, people.orgId)).toEqual([]);
    expect(await listEvents()).toEqual([]);
  });
});

describe('a verdict', () => {
  it('is stale once the spec has a newer version, also one with the old content', async () => {
    const { ben } = people;
    await add({ memberId: idOf(ben) });
    await ben.storySpec.update({ storyId: story.id, content: 'a\n' });
    await setVerdict(ben, {});
    await ben.storySpec.update({ storyId: story.id, content: 'b\n' });
    expect(await listReviewers()).toMatchObject([{ verdict: 'approved', stale: true, specVersion: 1 }]);
    await ben.storySpec.restore({ storyId: story.id, version: 1 });
    expect(await listReviewers()).toMatchObject([{ stale: true }]);
    expect(await setVerdict(ben, {})).toMatchObject({ stale: false, specVersion: 3 });
  });

  it('is stale once the code is another, by its diff or by its head commit', async () => {
    const { ben } = people;
    await add({ memberId: idOf(ben) });
    const push = (git: object) => ben.stories.updateGitMeta({ storyId: story.id, git });
    await push({ headSha: firstHeadSha });
    await setVerdict(ben, {});
    await push({ headSha: secondHeadSha });
    expect(await listReviewers()).toMatchObject([{ stale: true }]);
    await push({ headSha: firstHeadSha, diffHash: 'd1' });
    await setVerdict(ben, {});
    await push({ headSha: secondHeadSha, diffHash: 'd1' });
    expect(await listReviewers()).toMatchObject([
      {
        stale: false,
        headSha: firstHeadSha,
        diffHash: 'd1',
        underReview: { headSha: secondHeadSha, diffHash: 'd1' },
      },
    ]);
    await push({ diffHash: 'd2' });
    expect(await listReviewers()).toMatchObject([{ stale: true }]);
  });

  it('stays stale when the code that was approved is told of again', async () => {
    const { ben } = people;
    await add({ memberId: idOf(ben) });
    const push = (git: object) => ben.stories.updateGitMeta({ storyId: story.id, git });
    await push({ headSha: firstHeadSha, diffHash: 'd1' });
    await setVerdict(ben, {});
    for (const git of [{ diffHash: 'd2' }, { diffHash: 'd1' }, { headSha: firstHeadSha, diffHash: 'd1' }]) {
      await push(git);
      expect(await listReviewers()).toMatchObject([{ stale: true }]);
    }
    expect(await setVerdict(ben, {})).toMatchObject({ stale: false, version: 3 });
    await push({ headSha: secondHeadSha });
    await push({ headSha: firstHeadSha });
    expect(await listReviewers()).toMatchObject([{ stale: true }]);
  });

  it('that was given before there was any code is stale once there is some', async () => {
    const { ben } = people;
    await add({ memberId: idOf(ben) });
    await setVerdict(ben, {});
    await ben.stories.updateGitMeta({ storyId: story.id, git: { branch: 'passkeys' } });
    expect(await listReviewers()).toMatchObject([{ stale: false }]);
    await ben.stories.updateGitMeta({ storyId: story.id, git: { headSha: firstHeadSha } });
    expect(await listReviewers()).toMatchObject([
      { stale: true, headSha: null, underReview: { headSha: firstHeadSha } },
    ]);
  });

  it('says what code is under review where nobody told of it before', async () => {
    const { ben, chloe } = people;
    for (const who of [ben, chloe]) await add({ memberId: idOf(who) });
    await setVerdict(chloe, {});
    expect(await setVerdict(ben, { headSha: firstHeadSha })).toMatchObject({
      stale: false,
      underReview: { headSha: firstHeadSha },
    });
    expect(await listReviewers()).toMatchObject([{ stale: false }, { stale: true }]);
    await ben.stories.updateGitMeta({ storyId: story.id, git: { headSha: firstHeadSha } });
    expect(await listReviewers()).toMatchObject([{ stale: false }, { stale: true }]);
    await ben.stories.updateGitMeta({ storyId: story.id, git: { headSha: secondHeadSha } });
    expect(await listReviewers()).toMatchObject([{ stale: true }, { stale: true }]);
  });

  it('is stale at once when its reviewer names something older', async () => {
    const { ben } = people;
    await add({ memberId: idOf(ben) });
    for (const content of ['a\n', 'b\n']) await ben.storySpec.update({ storyId: story.id, content });
    await ben.stories.updateGitMeta({ storyId: story.id, git: { headSha: secondHeadSha, diffHash: 'd2' } });
    expect(await setVerdict(ben, { specVersion: 1 })).toMatchObject({
      stale: true,
      specVersion: 1,
      headSha: secondHeadSha,
    });
    expect(await setVerdict(ben, { headSha: firstHeadSha })).toMatchObject({
      stale: true,
      headSha: firstHeadSha,
      diffHash: null,
    });
    expect(await setVerdict(ben, { diffHash: 'd1' })).toMatchObject({
      stale: true,
      headSha: null,
      diffHash: 'd1',
    });
    expect(await setVerdict(ben, { specVersion: 2, headSha: secondHeadSha.slice(0, 7) })).toMatchObject({
      stale: false,
      diffHash: 'd2',
    });
  });

  it('is never stale where nothing was decided', async () => {
    const { ben, chloe } = people;
    await add({ memberId: idOf(ben) });
    await add({ memberId: idOf(chloe) });
    await setVerdict(chloe, { verdict: 'commented' });
    await ben.storySpec.update({ storyId: story.id, content: 'a\n' });
    expect(await listReviewers()).toMatchObject([
      { verdict: 'pending', stale: false },
      { verdict: 'commented', stale: false },
    ]);
  });
});

describe('the policy on verdicts', () => {
  const unmet = (gate: string) => ({
    status: 422,
    body: { details: { reason: 'policy', unmet: [{ gate }] } },
  });
  const assign = (who: object) =>
    people.ana.assignments.set({ targetType: 'story', targetId: story.id, ...who });

  it('lets no author approve, but say everything else', async () => {
    const { chloe } = people;
    await add({ memberId: idOf(chloe) });
    await assign({ memberId: idOf(chloe) });
    await expect(setVerdict(chloe, {})).rejects.toMatchObject(unmet('authorMayApprove'));
    expect(await setVerdict(chloe, { verdict: 'changes_requested', note: 'Not done yet.' })).toMatchObject({
      stale: false,
    });
    expect(await setVerdict(chloe, { verdict: 'commented' })).toMatchObject({ verdict: 'commented' });
    await assign({ memberId: null });
    expect(await setVerdict(chloe, {})).toMatchObject({ verdict: 'approved' });
  });

  it("takes an author's every agent for an author, whichever of them did the work", async () => {
    const { orgId, chloe, robo } = people;
    const max = await world.token(orgId, idOf(chloe), { agent: 'Max' });
    for (const agent of [robo, max]) await add({ agentId: agentOf(agent) });
    await assign({ memberId: idOf(chloe) });
    for (const agent of [robo, max])
      await expect(setVerdict(agent, {})).rejects.toMatchObject(unmet('authorMayApprove'));
    await assign({ memberId: null, agentId: agentOf(robo) });
    await expect(setVerdict(max, {})).rejects.toMatchObject(unmet('authorMayApprove'));
    await assign({ agentId: null });
    expect(await setVerdict(max, {})).toMatchObject({ verdict: 'approved' });
  });

  it('takes an assigned agent and its member for authors, and a writer of the spec for none', async () => {
    const { ben, chloe, robo } = people;
    for (const who of [{ memberId: idOf(ben) }, { memberId: idOf(chloe) }, { agentId: agentOf(robo) }]) {
      await add(who);
    }
    await assign({ agentId: agentOf(robo) });
    await ben.storySpec.update({ storyId: story.id, content: 'a\n' });
    for (const author of [chloe, robo]) {
      await expect(setVerdict(author, {})).rejects.toMatchObject(unmet('authorMayApprove'));
    }
    expect(await setVerdict(ben, {})).toMatchObject({ verdict: 'approved' });
  });

  it('lets authors approve where it says so', async () => {
    await arrangeStory({ policy: { authorMayApprove: true } });
    await add({ memberId: idOf(people.chloe) });
    await assign({ memberId: idOf(people.chloe) });
    expect(await setVerdict(people.chloe, {})).toMatchObject({ verdict: 'approved' });
  });

  it('silences an agent that was asked before agents might not review, but for taking its verdict back', async () => {
    const { orgId, robo } = people;
    await add({ agentId: agentOf(robo) });
    await setVerdict(robo, {});
    await world.rows(`update orgs set policy = '{"agentsMayReview": false}' where id = $1`, orgId);
    for (const verdict of ['approved', 'commented', 'changes_requested']) {
      await expect(setVerdict(robo, { verdict, note: 'x' })).rejects.toMatchObject(unmet('agentsMayReview'));
    }
    expect(await setVerdict(robo, { verdict: 'pending' })).toMatchObject({ verdict: 'pending' });
  });
});
