/**
 * Tests the relation between work and its pull request: repositories with equal numbers, renamed
 * repositories, replaced pull requests, and heads of work.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';

import { handlers, reactions, withInternalHandlers } from '@muster/operations';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { type ForgeWithSecret, deliver, withGithub } from './forge-deliveries.ts';
import {
  acmeRepository,
  mergedEvent,
  pullEvent,
  type PullRequestExample,
  pullUrl,
  pushEvent,
  reviewEvent,
  timeAfterSeconds,
  shaOf,
} from '@muster/testing/github';

const world = useWorld(withInternalHandlers(handlers), reactions);
const a = shaOf('a');
const b = shaOf('b');

let people: PeopleOf<typeof world>;
let chloe: PersonOf<typeof world>;
let github: ForgeWithSecret;
let storyId: string;
let held: { executionId: string; leaseToken: string };
let life: PullRequestExample;

beforeEach(async () => {
  ({ people, github } = await withGithub(world, { url: 'https://github.com/Acme/API.git' }));
  ({ chloe } = people);
  const { story } = await people.ana.stories.create({
    projectId: 'WEB',
    title: 'Land',
    status: 'in_progress',
  });
  storyId = story.id;
  held = await acquire(storyId);
  life = {
    ...{ repository: acmeRepository, number: 7, branch: 'muster/web-1-e1-land', base: 'main' },
    ...{ title: 'Land it', body: null },
  };
});

async function acquire(targetId: string) {
  const { execution, leaseToken } = await chloe.deliveryExecutions.acquire({ targetType: 'story', targetId });
  return { executionId: execution.id, leaseToken };
}
const handIn = (url = pullUrl(life)) =>
  chloe.deliveryExecutions.complete({
    ...held,
    outcome: 'submitted',
    pullRequest: { number: life.number, url },
  });
const send = (sent: Parameters<typeof deliver>[3], connection = github) =>
  deliver(world, people, connection, sent);
const executionNow = async () =>
  (await people.ana.deliveryExecutions.get({ executionId: held.executionId })).execution;
async function readStates() {
  const { state, needsRework } = await executionNow();
  return [state, needsRework, (await people.ana.stories.get({ storyId })).story.status];
}

describe('a pull request is its repository and number', () => {
  const web = {
    id: 4_712,
    html_url: 'https://github.com/acme/web',
    full_name: 'acme/web',
    default_branch: 'main',
  };
  const elsewhere = (more: Partial<PullRequestExample> = {}) => ({ ...life, repository: web, ...more });
  const linkWeb = () =>
    people.ana.forges.repositories.link({
      ...{ projectId: 'WEB', connectionId: github.id, url: 'git@github.com:Acme/web.git' },
    });

  it('so that facts of another linked repository change nothing, whatever their branch or number', async () => {
    await linkWeb();
    life = { ...life, branch: 'fix-1' };
    await chloe.deliveryExecutions.update({ ...held, git: { branch: 'refs/heads/fix-1' } });
    await send(pushEvent(life, a, 1, `Land\n\nMuster-Execution: ${held.executionId}`));
    await chloe.deliveryExecutions.complete({ ...held, outcome: 'submitted' });
    const before = await executionNow();
    const reason = 'the work is in another repository';
    for (const event of [
      pushEvent(elsewhere(), b, 2),
      pullEvent(elsewhere(), 'opened', b, 2),
      reviewEvent(elsewhere(), 'changes_requested', b, 3),
      pullEvent(elsewhere(), 'closed', b, 4, { closed_at: timeAfterSeconds(4) }),
      mergedEvent(elsewhere(), b, 5),
    ])
      expect((await send(event)).outcome).toMatchObject([{ result: 'noted', reason }]);
    expect(await executionNow()).toMatchObject({ state: before.state, git: before.git, needsRework: false });
    await send(mergedEvent(life, a, 6));
    expect(await readStates()).toEqual(['completed', false, 'done']);
  });

  it('so that the branch’s name alone does not say which linked repository the work is in', async () => {
    await linkWeb();
    life = { ...life, branch: 'fix-1' };
    await chloe.deliveryExecutions.update({ ...held, git: { branch: 'fix-1' } });
    const unlocated = [{ result: 'noted', reason: 'the repository of the work is not known yet' }];
    expect((await send(pushEvent(elsewhere(), b, 1))).outcome).toMatchObject(unlocated);
    await chloe.deliveryExecutions.complete({ ...held, outcome: 'submitted' });
    for (const event of [pullEvent(elsewhere(), 'opened', b, 2), mergedEvent(elsewhere(), b, 3)])
      expect((await send(event)).outcome).toMatchObject(unlocated);
    await send(pullEvent(life, 'opened', a, 4));
    expect(await readStates()).toEqual(['submitted', false, 'in_review']);
    life = { ...life, body: `Muster-Execution: ${held.executionId}` };
    await send(mergedEvent(life, a, 5));
    expect(await readStates()).toEqual(['completed', false, 'done']);
    expect((await executionNow()).git?.pullRequest?.url).toBe(pullUrl(life));
  });

  it('so that a merge does not land work of which no repository is known yet', async () => {
    await linkWeb();
    const { outcome } = await send(mergedEvent(elsewhere(), b, 5));
    expect(outcome).toMatchObject([{ reason: 'the repository of the work is not known yet' }]);
    await handIn();
    await send(mergedEvent(elsewhere(), b, 5));
    expect(await readStates()).toEqual(['submitted', false, 'in_review']);
    await send(mergedEvent(life, a, 6));
    expect(await readStates()).toEqual(['completed', false, 'done']);
  });

  it('so that a renamed or moved repository lands what was handed in before and after', async () => {
    await send(pushEvent(life, a, 1));
    await handIn();
    const renamed = {
      ...acmeRepository,
      html_url: 'https://github.com/acme-corp/core',
      full_name: 'acme-corp/core',
    };
    await send(pullEvent({ ...life, repository: renamed }, 'edited', a, 3));
    await send(mergedEvent({ ...life, repository: renamed }, a, 5));
    expect(await readStates()).toEqual(['completed', false, 'done']);
    const { story } = await people.ana.stories.create({
      projectId: 'WEB',
      title: 'Next',
      status: 'in_progress',
    });
    storyId = story.id;
    held = await acquire(storyId);
    life = { ...life, number: 8, branch: 'topic' };
    await handIn();
    await send(mergedEvent({ ...life, repository: renamed }, b, 7));
    expect(await readStates()).toEqual(['completed', false, 'done']);
  });

  it.each(['/files', '/', '#issuecomment-1', '?diff=split', `/commits/${shaOf('a')}`])(
    'so that an address that ends with %s is the same',
    async (end) => {
      life = { ...life, branch: 'topic' };
      await handIn(pullUrl(life).replace('https://github.com/acme', 'http://www.github.com/Acme') + end);
      await send(mergedEvent(life, a, 5));
      expect(await readStates()).toEqual(['completed', false, 'done']);
    },
  );

  it('and one of the same branch takes the place of one that was closed', async () => {
    life = { ...life, branch: 'topic' };
    await handIn();
    await send(pullEvent(life, 'closed', a, 3, { closed_at: timeAfterSeconds(3) }));
    expect(await readStates()).toEqual(['available', true, 'in_review']);
    const next = { ...life, number: 8 };
    await send(pullEvent(next, 'opened', a, 4));
    const other = await send(mergedEvent({ ...life, number: 9, branch: 'other' }, b, 5));
    expect(other.outcome).toMatchObject([{ result: 'parked' }]);
    await send(mergedEvent(next, a, 6));
    expect(await readStates()).toEqual(['completed', false, 'done']);
  });

  it('and lands all work that was handed in with it', async () => {
    const { story } = await people.ana.stories.create({
      projectId: 'WEB',
      title: 'Other',
      status: 'in_progress',
    });
    const other = await acquire(story.id);
    await handIn();
    await chloe.deliveryExecutions.complete({
      ...{ ...other, outcome: 'submitted' },
      pullRequest: { number: life.number, url: `${pullUrl(life)}/files` },
    });
    const { outcome } = await send(mergedEvent(life, a, 5));
    expect(outcome.map(({ result }) => result)).toEqual(['recorded', 'recorded']);
    expect(await readStates()).toEqual(['completed', false, 'done']);
    expect((await people.ana.stories.get({ storyId: story.id })).story.status).toBe('done');
  });
});

describe('an address that a caller gives', () => {
  const url = 'http://www.github.com/Acme/api/pull/7/files#diff';
  const canonical = 'https://github.com/acme/api/pull/7';
  const pullRequest = { number: 7, url, state: 'open' as const };
  const wrong = [
    { number: 7, url: 'https://github.com/acme/api/issues/7' },
    { number: 7, url: 'https://github.com/acme/api/pull/8' },
  ];
  const group = async (git: object) => {
    const { story } = await people.ana.stories.create({ projectId: 'WEB', title: 'Grouped' });
    const wanted = { projectId: 'WEB', name: 'Both', storyIds: [story.id], git };
    return (await people.ana.deliveryGroups.create(wanted)).group;
  };
  const places = {
    'the update of an execution': async (git: object) =>
      (await chloe.deliveryExecutions.update({ ...held, git })).execution,
    'the code of a story': async (git: object) =>
      (await people.ana.stories.updateGitMeta({ storyId, git })).story,
    'a new group': group,
    'the code of a group': async (git: object) =>
      (await people.ana.deliveryGroups.updateGitMeta({ groupId: (await group({})).id, git })).group,
  };

  it.each(Object.entries(places))('is canonical in %s, or refused', async (_place, write) => {
    expect((await write({ pullRequest })).git?.pullRequest).toMatchObject({ number: 7, url: canonical });
    for (const given of wrong)
      await expect(write({ pullRequest: { ...pullRequest, ...given } })).rejects.toMatchObject({
        ...{ status: 422, reason: 'invalid_pull_request' },
        body: { details: given },
      });
    const elsewhere = 'https://elsewhere.example/Issues/7?x';
    const { git } = await write({ pullRequest: { ...pullRequest, url: elsewhere } });
    expect(git?.pullRequest?.url).toBe(elsewhere);
  });

  it('is canonical where work is handed in and where executions are filtered by it', async () => {
    for (const given of wrong)
      await expect(
        chloe.deliveryExecutions.complete({ ...held, outcome: 'submitted', pullRequest: given }),
      ).rejects.toMatchObject({ status: 422, reason: 'invalid_pull_request', body: { details: given } });
    await handIn(url);
    expect((await executionNow()).pullRequest).toEqual({ number: 7, url: canonical });
    const { items } = await people.ana.deliveryExecutions.list({ projectId: 'WEB', pullRequest: url });
    expect(items.map(({ id }) => id)).toEqual([held.executionId]);
  });

  it('is canonical in what is reported of the forge', async () => {
    const seen = { dedupeKey: 'open', kind: 'pr_opened', observedAt: timeAfterSeconds(1) } as const;
    const { executionId } = held;
    const { observation } = await chloe.deliveryExecutions.recordForgeObservation({
      ...{ executionId, observation: { ...seen, number: 7, url } },
    });
    expect(observation.url).toBe(canonical);
  });
});

describe('the head of work', () => {
  const from = (sent: ReturnType<typeof pushEvent>, before: string) => ({
    ...sent,
    payload: { ...sent.payload, before },
  });
  const headNow = async () => (await executionNow()).git?.headSha;

  it.each([
    ['a', 'b'],
    ['f', 'a'],
  ])('is the newer of two pushes of one second, in whatever order they come: %s, %s', async (one, two) => {
    const [older, newer] = [shaOf(one), shaOf(two)];
    await send(from(pushEvent(life, older, 1), shaOf('9')));
    await send(from(pushEvent(life, newer, 1), older));
    expect(await headNow()).toBe(newer);
    await send(from(pushEvent(life, shaOf('d'), 2), shaOf('c')));
    await send(from(pushEvent(life, shaOf('c'), 2), newer));
    expect(await headNow()).toBe(shaOf('d'));
  });

  it('is another code than what was approved before the second push of a second', async () => {
    await people.ana.policy.update({ requiredApprovals: 1 });
    await send(from(pushEvent(life, shaOf('f'), 1), shaOf('9')));
    await people.ana.reviewers.add({ storyId, memberId: people.ben.me.memberId });
    await people.ben.reviewers.setVerdict({ storyId, verdict: 'approved' });
    await send(from(pushEvent(life, a, 1), shaOf('f')));
    const { items } = await people.ana.reviewers.list({ storyId });
    expect(items.map(({ stale }) => stale)).toEqual([true]);
  });
});

describe('a merged pull request or a pushed commit that reverts merged work', () => {
  const revert = (body: string, more: Partial<PullRequestExample> = {}): PullRequestExample => ({
    ...{ ...life, number: 8, branch: 'revert-7-land', title: 'Revert "Land it"', body },
    ...more,
  });
  const lines = async () =>
    (await people.ana.activity.list({ kinds: ['story.mergeReverted'] })).items.map(({ subject, data }) => [
      subject.key,
      data['number'],
    ]);

  beforeEach(async () => {
    await people.ana.assignments.set({
      ...{ targetType: 'story', targetId: storyId, memberId: chloe.me.memberId },
    });
    await people.ana.reviewers.add({ storyId, memberId: people.ben.me.memberId });
    await send(pullEvent(life, 'opened', a, 1));
    await handIn();
    await send(mergedEvent(life, a, 3));
    expect(await readStates()).toEqual(['completed', false, 'done']);
  });

  it('is an event of the story once, notifies assignee and reviewers, and moves nothing', async () => {
    const merged = mergedEvent(revert('Reverts acme/api#7'), b, 5);
    await send(pullEvent(revert('Reverts acme/api#7'), 'opened', b, 4));
    expect(await lines()).toEqual([]);
    await send(merged);
    await send(merged);
    expect(await lines()).toEqual([['WEB-1', 8]]);
    expect(await readStates()).toEqual(['completed', false, 'done']);
    for (const who of [chloe, people.ben]) {
      expect((await who.notifications.list({ kinds: ['merge_reverted'] })).items).toMatchObject([
        { title: 'The merged work on WEB-1 was reverted by pull request 8', subject: { key: 'WEB-1' } },
      ]);
    }
  });

  it('is recognized by the merge commit', async () => {
    await send(mergedEvent(revert(`This reverts commit ${shaOf('f')}.`), b, 5));
    expect(await lines()).toEqual([['WEB-1', 8]]);
  });

  const undone = `Revert "Land it"\n\nThis reverts commit ${shaOf('f')}.`;
  const push = (branch: string, message: string) => pushEvent({ ...life, branch }, b, 5, message);

  it('is recognized when it is pushed straight to the branch that the work went into', async () => {
    const twice = push('main', undone);
    await send(twice);
    await send({ ...twice, payload: { ...twice.payload, after: shaOf('c') } });
    expect(await lines()).toEqual([['WEB-1', null]]);
    expect(await readStates()).toEqual(['completed', false, 'done']);
    for (const who of [chloe, people.ben]) {
      expect((await who.notifications.list({ kinds: ['merge_reverted'] })).items).toMatchObject([
        { title: 'The merged work on WEB-1 was reverted by a pushed commit', subject: { key: 'WEB-1' } },
      ]);
    }
  });

  it('is one event where the merge of a pull request is delivered as a push, too', async () => {
    await send(mergedEvent(revert('Reverts acme/api#7'), b, 5));
    await send(push('main', undone));
    expect(await lines()).toEqual([['WEB-1', 8]]);
  });

  it('is one event where that push comes first', async () => {
    await send(push('main', undone));
    await send(mergedEvent(revert('Reverts acme/api#7'), b, 5));
    expect(await lines()).toEqual([['WEB-1', null]]);
  });

  it('counts when it is pushed only where the work went, and if its message is that of a revert', async () => {
    await send(push('revert-7-land', undone));
    await send(push('release/2', undone));
    await send(push('main', undone.replace('Revert', 'Undo')));
    await send(push('main', undone.replaceAll('f', '9')));
    expect(await lines()).toEqual([]);
  });

  it('counts only where the work went', async () => {
    await send(mergedEvent(revert('Reverts acme/api#7', { base: 'release/2' }), b, 5));
    await send(mergedEvent(revert('Reverts acme/api#6', { number: 9 }), b, 6));
    await send(mergedEvent(revert('Reverts acme/web#7', { number: 10 }), b, 7));
    expect(await lines()).toEqual([]);
  });
});
