/** The worker asks the forge's API for facts that the forge did not deliver. */
import { describe, expect, it } from '@jest/globals';
import { acmeRepository, mergedEvent, pullEvent, timeAfterSeconds, shaOf } from '@muster/testing/github';
import { pullRequest, mergeRequest, mergeUrl, forgePullAnswer, useForgeFixture } from './asked-forge.ts';
import { deliver } from './forge-deliveries.ts';

const { world, now, begin, beQuiet, settle, turn, asked, executionNow, deliveries, answers } =
  useForgeFixture();
const [a, b] = [shaOf('a'), shaOf('b')];

describe('a merge that was not delivered', () => {
  it.each(['github', 'gitea', 'forgejo'] as const)('lands the story when %s is asked', async (kind) => {
    await begin(kind);
    answers(forgePullAnswer(mergedEvent(pullRequest, a, 5), 'closed'));
    await turn();
    const api = kind === 'github' ? '/api/v3' : '/api/v1';
    expect(asked().map(({ path }) => path)).toEqual([`${api}/repos/acme/api/pulls/7`]);
    expect(await executionNow()).toMatchObject({ state: 'completed', outcome: 'succeeded' });
    expect((await now.people.ana.stories.get({ storyId: now.storyId })).story.status).toBe('done');
    expect((await deliveries())[0]).toMatchObject({
      ...{ event: 'pull_request', trust: 'verified', state: 'recorded' },
      outcome: [{ kind: 'pr_merged', result: 'recorded' }],
    });
  });

  it('lands the story when GitLab is asked', async () => {
    await begin('gitlab');
    const merged = { state: 'merged', sha: a, merge_commit_sha: shaOf('f'), merged_at: timeAfterSeconds(5) };
    answers({ ...mergeRequest, ...merged, web_url: mergeUrl });
    await turn();
    expect(asked().map(({ path }) => path)).toEqual([
      `/api/v4/projects/${acmeRepository.id}/merge_requests/7`,
    ]);
    expect(await executionNow()).toMatchObject({ state: 'completed', outcome: 'succeeded' });
  });

  it('is the same fact when it is delivered after all', async () => {
    await begin();
    answers(forgePullAnswer(mergedEvent(pullRequest, a, 5), 'closed'));
    await turn();
    const { outcome } = await deliver(world, now.people, now.connection, mergedEvent(pullRequest, a, 5));
    expect(outcome).toMatchObject([{ kind: 'pr_merged', result: 'repeated' }]);
  });
});

it('learns of another head of one that is open, and keeps nothing where there is no news', async () => {
  await begin();
  answers(forgePullAnswer(pullEvent(pullRequest, 'edited', a, 3), 'open'));
  await turn();
  expect(await deliveries()).toHaveLength(1);
  answers(forgePullAnswer(pullEvent(pullRequest, 'edited', b, 4), 'open'));
  await beQuiet();
  await turn();
  expect((await executionNow()).git?.headSha).toBe(b);
  answers(forgePullAnswer(pullEvent(pullRequest, 'edited', b, 5, { mergeable_state: 'dirty' }), 'open'));
  await beQuiet();
  await turn();
  expect((await executionNow()).needsRework).toBe(true);
});

it('is asked which of two heads of one second came last, also if the first to arrive did', async () => {
  await begin();
  answers(forgePullAnswer(pullEvent(pullRequest, 'edited', b, 3), 'open'));
  await deliver(world, now.people, now.connection, pullEvent(pullRequest, 'synchronize', b, 3));
  await deliver(world, now.people, now.connection, pullEvent(pullRequest, 'synchronize', shaOf('c'), 3));
  expect((await executionNow()).git?.headSha).toBe(shaOf('c'));
  await settle();
  expect((await executionNow()).git?.headSha).toBe(b);
});

it('asks whether anything changed, which costs the forge nothing', async () => {
  await begin();
  answers(forgePullAnswer(pullEvent(pullRequest, 'edited', a, 3), 'open'), { etag: '"one"' });
  await turn();
  now.forge.answer({ status: 304 });
  await beQuiet();
  await turn();
  expect(asked().map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"one"']);
  expect(await deliveries()).toHaveLength(1);
  expect(
    (await now.people.ana.forges.get({ connectionId: now.connection.id })).connection.lastError,
  ).toBeNull();
});

describe('nothing is asked', () => {
  it('of what was heard within half an hour, or asked about', async () => {
    await begin();
    await beQuiet(29);
    await turn();
    expect(asked()).toEqual([]);
    await beQuiet();
    answers(forgePullAnswer(pullEvent(pullRequest, 'edited', a, 3), 'open'));
    await turn();
    await turn();
    expect(asked()).toHaveLength(1);
  });

  it('of work that is over, and of what is closed', async () => {
    await begin();
    await deliver(world, now.people, now.connection, mergedEvent(pullRequest, a, 5));
    await beQuiet();
    await turn();
    expect(asked()).toEqual([]);
  });

  it('of a forge that cannot be called', async () => {
    await begin('github', null);
    await turn();
    expect(await now.jobs.listPending(now.people.orgId)).toEqual([]);
  });

  it('before the time that the forge named', async () => {
    await begin();
    now.forge.answer({ status: 429, headers: { 'retry-after': '600' } });
    await turn();
    await beQuiet();
    await turn();
    expect(asked()).toHaveLength(1);
    const { lastError } = (await now.people.ana.forges.get({ connectionId: now.connection.id })).connection;
    expect(lastError).toMatchObject({ doing: 'reconcile' });
  });
});

it.each([
  ['is no pull request', { hello: 'world' }, 'in an unexpected format: number'],
  [
    'nests too deep',
    JSON.parse('['.repeat(100) + ']'.repeat(100)),
    'in an unexpected format: not valid JSON',
  ],
])('is told of by its error where what came back %s', async (_what, answer, words) => {
  await begin();
  answers(answer);
  await turn();
  const { lastError } = (await now.people.ana.forges.get({ connectionId: now.connection.id })).connection;
  expect(lastError).toMatchObject({ doing: 'reconcile' });
  expect(lastError?.message).toContain(words);
});
