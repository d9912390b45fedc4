/** The worker asks the forge's API for facts that the forge did not deliver. */
import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { handlers, performable, reactions } from '@muster/operations';
import { type ForgeKind } from '@muster/registry';
import { type People, useWorld } from '@muster/testing';
import { type Connected, deliver } from './forge-deliveries.ts';
import { type ForgeJobs, openForgeJobs } from './forge-jobs.ts';
import { type ForgeServer, openForge, replyWith } from './forge-server.ts';
import {
  acmeApi,
  mergedEvent,
  pullEvent,
  type PullLife,
  pullUrl,
  second,
  shaOf,
  suiteEvent,
} from '@muster/testing/github';

const world = useWorld(Object.fromEntries(performable(handlers)), reactions);
const [a, b] = [shaOf('a'), shaOf('b')];
const life: PullLife = {
  ...{ repository: acmeApi, number: 7, branch: 'topic', base: 'main', title: 'Land it', body: null },
};
/** Returns the API response of GitHub, Gitea and Forgejo for the pull request of a delivery. */
const told = ({ payload }: ReturnType<typeof pullEvent>, state: 'open' | 'closed') => ({
  ...{ ...payload.pull_request, state },
  base: { ...payload.pull_request.base, repo: acmeApi },
});

let people: People;
let forge: ForgeServer;
let jobs: ForgeJobs;
let connection: Connected;
let storyId: string;
let held: { executionId: string; leaseToken: string };

beforeEach(async () => {
  forge = await openForge();
  jobs = openForgeJobs(world);
  people = await world.org({ policy: { requireMergeProof: true, mergeProof: 'verified' } });
  await people.ana.projects.create({ key: 'WEB', name: 'Web' });
});
afterEach(async () => {
  jobs.close();
  await forge.close();
});

type Credentials = Parameters<People['ana']['forges']['connect']>[0]['credentials'];

/** Creates work that was submitted with an open pull request, without a delivery for an hour. */
async function begin(kind: ForgeKind = 'github', credentials: Credentials | null = { token: 't' }) {
  const { connection: made, setup } = await people.ana.forges.connect({
    ...{ kind, baseUrl: forge.url },
    ...(credentials !== null && { credentials }),
  });
  connection = { id: made.id, kind, secret: setup.secret };
  await people.ana.forges.repositories.link({
    ...{ projectId: 'WEB', connectionId: made.id, externalId: String(acmeApi.id) },
  });
  const { story } = await people.ana.stories.create({
    projectId: 'WEB',
    title: 'Land',
    status: 'in_progress',
  });
  storyId = story.id;
  const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: storyId },
  });
  held = { executionId: execution.id, leaseToken };
  const url = kind === 'gitlab' ? mergeUrl : pullUrl(life);
  await people.chloe.deliveryExecutions.complete({
    ...{ ...held, outcome: 'submitted', pullRequest: { number: 7, url } },
  });
  await deliver(world, people, connection, kind === 'gitlab' ? openedMerge : pullEvent(life, 'opened', a, 1));
  await jobs.settle(people.orgId);
  forge.asked.length = 0;
  await beQuiet();
}
const beQuiet = (minutes = 60) =>
  world.rows(
    `update forge_pulls set heard_at = now() - make_interval(mins => $2) where org_id = $1`,
    people.orgId,
    minutes,
  );
const turn = async () => {
  await jobs.reconcile();
  await jobs.settle(people.orgId);
};
const isPull = (path: string): boolean => /\/(pulls|merge_requests)\/7$/.test(path);
const gets = () => forge.asked.filter(({ method }) => method === 'GET');
/** Lists the requests for the pull request itself. */
const asked = () => gets().filter(({ path }) => isPull(path));
const executionNow = async () =>
  (await people.ana.deliveryExecutions.get({ executionId: held.executionId })).execution;
const deliveries = async () =>
  (await people.ana.forges.deliveries.list({ connectionId: connection.id })).items;
/** Answers the pull request with this, checks by the end of the path, and all else with an error. */
const answers = (
  json: unknown,
  headers: Record<string, string> = {},
  checks: Readonly<Record<string, unknown>> = {},
  made: unknown = {},
) =>
  forge.answer(({ method, path }, response) => {
    const found = Object.keys(checks).find((end) => path.split('?')[0]?.endsWith(end));
    if (method !== 'GET') replyWith(response, 201, made);
    else if (isPull(path)) replyWith(response, 200, json, headers);
    else if (found !== undefined) replyWith(response, 200, checks[found]);
    else replyWith(response, 403, { message: 'Resource not accessible by integration' });
  });

const mergeUrl = `${acmeApi.html_url}/-/merge_requests/7`;
const merge = {
  ...{ iid: 7, title: 'Land it', description: null, source_branch: 'topic', target_branch: 'main' },
  ...{ source_project_id: acmeApi.id, target_project_id: acmeApi.id },
  ...{ created_at: second(1), updated_at: second(1) },
};
const openedMerge = {
  event: 'Merge Request Hook',
  payload: {
    project: {
      ...{ id: acmeApi.id, web_url: acmeApi.html_url },
      ...{ path_with_namespace: 'acme/api', default_branch: 'main' },
    },
    object_attributes: { ...merge, url: mergeUrl, action: 'open', last_commit: { id: a } },
  },
};

describe('reviews, which Gitea and Forgejo deliver without the right of the reviewer', () => {
  const review = (id: number, user: number, more: object = {}) => ({
    ...{ id, user: { id: user }, state: 'REQUEST_CHANGES', commit_id: a, official: true, dismissed: false },
    ...{ submitted_at: second(5), ...more },
  });
  const rejected = {
    event: 'pull_request_rejected',
    payload: {
      ...pullEvent(life, 'reviewed', a, 5).payload,
      ...{ review: { type: 'pull_request_review_rejected', content: 'No.' }, sender: { id: 5 } },
    },
  };
  const hear = async (...reviews: object[]) => {
    answers(told(pullEvent(life, 'edited', a, 5), 'open'), {}, { '/pulls/7/reviews': reviews });
    const { outcome } = await deliver(world, people, connection, rejected);
    await jobs.settle(people.orgId);
    return [outcome[0]?.reason, (await executionNow()).needsRework];
  };
  const fetched = 'the reviews of the pull request are fetched from the forge';

  it.each(['gitea', 'forgejo'] as const)(
    'count at %s if they are official and not dismissed',
    async (kind) => {
      await begin(kind);
      const strangers = review(1, 4, { official: false });
      expect(await hear(strangers)).toEqual([fetched, false]);
      expect(await hear(strangers, review(2, 5))).toEqual([fetched, true]);
      expect(await hear(review(2, 5), review(3, 4, { official: false, state: 'APPROVED' }))).toEqual([
        fetched,
        true,
      ]);
      expect(await hear(review(2, 5, { dismissed: true }))).toEqual([fetched, false]);
      expect((await deliveries()).filter(({ event }) => event === 'pull_request_review')).toHaveLength(2);
    },
  );

  it('do not count without credentials to fetch them', async () => {
    await begin('gitea', null);
    expect(await hear(review(2, 5))).toEqual([expect.stringContaining('has no credentials'), false]);
    expect(forge.asked).toEqual([]);
  });
});

describe('a repository that was linked by its address', () => {
  /** Describes a repository with the fields of all forges; GitLab has different names. */
  const repository = (name: string) => ({
    ...{ id: acmeApi.id, html_url: `${forge.url}/acme/${name}`, full_name: `acme/${name}` },
    ...{ web_url: `${forge.url}/acme/${name}`, path_with_namespace: `acme/${name}`, default_branch: 'main' },
  });
  const link = (connectionId: string, url: string) =>
    people.ana.forges.repositories.link({ projectId: 'WEB', connectionId, url });
  const linked = async () =>
    (await people.ana.forges.repositories.list({ projectId: 'WEB' })).items.map(
      ({ externalId }) => externalId,
    );

  it.each([
    ['github', '/api/v3/repos/acme/api'],
    ['gitlab', '/api/v4/projects/acme%2Fapi'],
    ['forgejo', '/api/v1/repos/acme/api'],
  ] as const)('is known by the id that %s answers with, also once it is renamed', async (kind, path) => {
    const { connection: made, setup } = await people.ana.forges.connect({ kind, baseUrl: forge.url });
    connection = { id: made.id, kind, secret: setup.secret };
    await link(made.id, `${forge.url}/acme/api`);
    await jobs.settle(people.orgId);
    expect(forge.asked).toEqual([]);
    forge.answer({ status: 200, json: repository('api') });
    await people.ana.forges.update({ connectionId: made.id, credentials: { token: 't' } });
    await jobs.settle(people.orgId);
    expect(gets().map((one) => one.path)).toEqual([path]);
    expect(await linked()).toEqual([String(acmeApi.id)]);
    if (kind === 'gitlab') return;
    const renamed = pullEvent({ ...life, repository: repository('core') }, 'opened', a, 1);
    const { outcome } = await deliver(world, people, connection, renamed);
    expect(outcome).toMatchObject([{ result: 'parked' }]);
  });

  it('is asked for when it is linked to a forge that can be called', async () => {
    const { connection: made } = await people.ana.forges.connect({
      ...{ kind: 'gitea', baseUrl: forge.url, credentials: { token: 't' } },
    });
    forge.answer({ status: 200, json: repository('api') });
    await link(made.id, `${forge.url}/acme/api.git`);
    await jobs.settle(people.orgId);
    expect(await linked()).toEqual([String(acmeApi.id)]);
  });
});

describe('a merge that was not delivered', () => {
  it.each(['github', 'gitea', 'forgejo'] as const)('lands the story when %s is asked', async (kind) => {
    await begin(kind);
    answers(told(mergedEvent(life, a, 5), 'closed'));
    await turn();
    const api = kind === 'github' ? '/api/v3' : '/api/v1';
    expect(asked().map(({ path }) => path)).toEqual([`${api}/repos/acme/api/pulls/7`]);
    expect(await executionNow()).toMatchObject({ state: 'completed', outcome: 'succeeded' });
    expect((await people.ana.stories.get({ storyId })).story.status).toBe('done');
    expect((await deliveries())[0]).toMatchObject({
      ...{ event: 'pull_request', trust: 'verified', state: 'recorded' },
      outcome: [{ kind: 'pr_merged', result: 'recorded' }],
    });
  });

  it('lands the story when GitLab is asked', async () => {
    await begin('gitlab');
    const merged = { state: 'merged', sha: a, merge_commit_sha: shaOf('f'), merged_at: second(5) };
    answers({ ...merge, ...merged, web_url: mergeUrl });
    await turn();
    expect(asked().map(({ path }) => path)).toEqual([`/api/v4/projects/${acmeApi.id}/merge_requests/7`]);
    expect(await executionNow()).toMatchObject({ state: 'completed', outcome: 'succeeded' });
  });

  it('is the same fact when it is delivered after all', async () => {
    await begin();
    answers(told(mergedEvent(life, a, 5), 'closed'));
    await turn();
    const { outcome } = await deliver(world, people, connection, mergedEvent(life, a, 5));
    expect(outcome).toMatchObject([{ kind: 'pr_merged', result: 'repeated' }]);
  });
});

it('learns of another head of one that is open, and keeps nothing where there is no news', async () => {
  await begin();
  answers(told(pullEvent(life, 'edited', a, 3), 'open'));
  await turn();
  expect(await deliveries()).toHaveLength(1);
  answers(told(pullEvent(life, 'edited', b, 4), 'open'));
  await beQuiet();
  await turn();
  expect((await executionNow()).git?.headSha).toBe(b);
  answers(told(pullEvent(life, 'edited', b, 5, { mergeable_state: 'dirty' }), 'open'));
  await beQuiet();
  await turn();
  expect((await executionNow()).needsRework).toBe(true);
});

it('is asked which of two heads of one second came last, also if the first to arrive did', async () => {
  await begin();
  answers(told(pullEvent(life, 'edited', b, 3), 'open'));
  await deliver(world, people, connection, pullEvent(life, 'synchronize', b, 3));
  await deliver(world, people, connection, pullEvent(life, 'synchronize', shaOf('c'), 3));
  expect((await executionNow()).git?.headSha).toBe(shaOf('c'));
  await jobs.settle(people.orgId);
  expect((await executionNow()).git?.headSha).toBe(b);
});

it('asks whether anything changed, which costs the forge nothing', async () => {
  await begin();
  answers(told(pullEvent(life, 'edited', a, 3), 'open'), { etag: '"one"' });
  await turn();
  forge.answer({ status: 304 });
  await beQuiet();
  await turn();
  expect(asked().map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"one"']);
  expect(await deliveries()).toHaveLength(1);
  expect((await people.ana.forges.get({ connectionId: connection.id })).connection.lastError).toBeNull();
});

describe('checks that were not delivered', () => {
  const open = () => told(pullEvent(life, 'edited', a, 3), 'open');
  const suite = (id: number, conclusion: string | null, runs = 1) => ({
    ...{ id, head_sha: a, status: conclusion === null ? 'queued' : 'completed', conclusion },
    ...{ updated_at: second(4), app: { id }, latest_check_runs_count: runs },
  });
  const run = (workflow_id: number, conclusion: string | null) => ({
    ...{ id: 70 + workflow_id, workflow_id, head_sha: a, status: 'completed', conclusion },
    updated_at: second(4),
  });
  const ofGitHub = (
    suites: readonly object[],
    runs: readonly object[] = [],
    statuses: readonly object[] = [],
  ): Readonly<Record<string, unknown>> => ({
    '/check-suites': { total_count: suites.length, check_suites: suites },
    '/actions/runs': { total_count: runs.length, workflow_runs: runs },
    '/status': { state: 'success', sha: a, statuses },
  });
  const checksNow = async () => (await executionNow()).git?.checks;
  const lastError = async () =>
    (await people.ana.forges.get({ connectionId: connection.id })).connection.lastError;

  it('are known once GitHub is asked, and are kept once', async () => {
    await begin();
    const passed = { context: 'ci/lint', state: 'success', updated_at: second(4) };
    const ours = { context: 'muster', state: 'pending', updated_at: second(4) };
    // An installed app that runs nothing has a check suite that stays queued.
    const suites = [suite(3, 'success'), suite(9, null, 0)];
    answers(open(), {}, ofGitHub(suites, [run(1, 'success')], [passed, ours]));
    await turn();
    expect(gets().map(({ path }) => path.replace(/^.*acme\/api/, ''))).toEqual([
      '/pulls/7',
      `/commits/${a}/check-suites?per_page=100`,
      `/actions/runs?head_sha=${a}&per_page=100`,
      `/commits/${a}/status?per_page=100`,
    ]);
    expect(await checksNow()).toBe('passing');
    const kept = (await deliveries()).map(({ event }) => event).toSorted();
    expect(kept).toEqual(['check_suite', 'pull_request', 'status', 'workflow_run']);
    await beQuiet();
    await turn();
    expect(await deliveries()).toHaveLength(4);
    expect(await lastError()).toBeNull();
  });

  it('are asked of also where nothing else changed, and what changed since is news', async () => {
    await begin();
    answers(open(), { etag: '"one"' }, ofGitHub([suite(3, 'success')]));
    await turn();
    const failed = { ...suite(3, 'failure'), updated_at: second(9) };
    forge.answer(({ method, path }, response) => {
      if (isPull(path)) replyWith(response, 304);
      else if (method === 'GET')
        replyWith(response, 200, Object.entries(ofGitHub([failed])).find(([end]) => path.includes(end))?.[1]);
      else replyWith(response, 201);
    });
    await beQuiet();
    await turn();
    expect(await checksNow()).toBe('failing');
  });

  it('are no news where they were delivered', async () => {
    await begin();
    await deliver(
      world,
      people,
      connection,
      suiteEvent(life, a, { app: 3, conclusion: 'success', seconds: 4 }),
    );
    answers(open(), {}, ofGitHub([{ ...suite(3, 'success'), updated_at: second(5) }]));
    await beQuiet();
    await turn();
    expect(gets()).toHaveLength(4);
    expect((await deliveries()).map(({ event }) => event)).toEqual(['check_suite', 'pull_request']);
  });

  it('that are not over hold the verdict up', async () => {
    await begin();
    answers(open(), {}, ofGitHub([suite(3, 'success'), suite(4, null)]));
    await turn();
    expect(await checksNow()).toBeNull();
    answers(open(), {}, ofGitHub([suite(3, 'success'), { ...suite(4, 'success'), updated_at: second(8) }]));
    await beQuiet();
    await turn();
    expect(await checksNow()).toBe('passing');
  });

  it('are none of the suite in which an app says itself what is missing', async () => {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2_048,
      ...{ publicKeyEncoding: { type: 'spki', format: 'pem' } },
      ...{ privateKeyEncoding: { type: 'pkcs8', format: 'pem' } },
    });
    const installed = { '/installation': { id: 8 } };
    const made = { token: 'ghs', expires_at: new Date(Date.now() + 3_600_000).toISOString() };
    answers(open(), {}, { ...installed, ...ofGitHub([suite(3, 'success'), suite(5, null)]) }, made);
    await begin('github', { appId: 5, privateKey });
    await turn();
    expect(await checksNow()).toBe('passing');
    expect((await deliveries()).map(({ event }) => event)).toEqual(['check_suite', 'pull_request']);
  });

  it('may not be asked of with every token, which is no error', async () => {
    await begin();
    answers(open());
    await turn();
    expect(gets()).toHaveLength(4);
    expect(await lastError()).toBeNull();
  });

  it.each(['gitea', 'forgejo'] as const)('are known once %s is asked', async (kind) => {
    await begin(kind);
    const statuses = [{ context: 'ci', status: 'failure', updated_at: second(4) }];
    answers(open(), {}, { '/status': { sha: a, statuses } });
    await turn();
    expect(await checksNow()).toBe('failing');
  });

  it('are known once Forgejo is asked for its runs', async () => {
    await begin('forgejo');
    const run_ = { id: 9, index_in_repo: 2, workflow_id: 'ci.yml', event: 'push', updated: second(4) };
    const runs = [
      { ...run_, commit_sha: a, status: 'failure' },
      { ...run_, id: 10, index_in_repo: 3, commit_sha: b, status: 'success' },
    ];
    answers(open(), {}, { '/actions/runs': { total_count: 2, workflow_runs: runs } });
    await turn();
    expect(await checksNow()).toBe('failing');
    expect(await lastError()).toBeNull();
  });

  it('are asked of page by page', async () => {
    await begin('gitea');
    const status = (context: string, said: string) => ({ context, status: said, updated_at: second(4) });
    forge.answer(({ path }, response) => {
      const page = new URL(path, forge.url).searchParams.get('page');
      const link = { link: `<${forge.url}/elsewhere?page=2>; rel="next", <${forge.url}>; rel="last"` };
      if (isPull(path)) replyWith(response, 200, open());
      else if (!path.includes('/status?')) replyWith(response, 404, {});
      else if (page === null) replyWith(response, 200, { statuses: [status('ci', 'success')] }, link);
      else replyWith(response, 200, { statuses: [status('lint', 'failure')] });
    });
    await turn();
    expect(await checksNow()).toBe('failing');
  });

  it.each([
    ['its branch', { sha: a, ref: 'topic' }],
    ['a trial merge', { sha: shaOf('e'), ref: 'refs/merge-requests/7/merge' }],
  ])('are known once GitLab is asked for a pipeline of %s', async (_which, of) => {
    await begin('gitlab');
    const pipeline = { ...of, id: 5, source: 'merge_request_event', created_at: second(3) };
    const passed = [{ ...pipeline, status: 'success', updated_at: second(4) }];
    answers({ ...merge, state: 'opened', sha: a, web_url: mergeUrl }, {}, { '/pipelines': passed });
    await turn();
    expect(gets().at(-1)?.path).toBe(`/api/v4/projects/${acmeApi.id}/pipelines?sha=${a}&per_page=100`);
    expect(await checksNow()).toBe('passing');
  });
});

describe('nothing is asked', () => {
  it('of what was heard within half an hour, or asked about', async () => {
    await begin();
    await beQuiet(29);
    await turn();
    expect(asked()).toEqual([]);
    await beQuiet();
    answers(told(pullEvent(life, 'edited', a, 3), 'open'));
    await turn();
    await turn();
    expect(asked()).toHaveLength(1);
  });

  it('of work that is over, and of what is closed', async () => {
    await begin();
    await deliver(world, people, connection, mergedEvent(life, a, 5));
    await beQuiet();
    await turn();
    expect(asked()).toEqual([]);
  });

  it('of a forge that cannot be called', async () => {
    await begin('github', null);
    await turn();
    expect(await jobs.waiting(people.orgId)).toEqual([]);
  });

  it('before the time that the forge named', async () => {
    await begin();
    forge.answer({ status: 429, headers: { 'retry-after': '600' } });
    await turn();
    await beQuiet();
    await turn();
    expect(asked()).toHaveLength(1);
    const { lastError } = (await people.ana.forges.get({ connectionId: connection.id })).connection;
    expect(lastError).toMatchObject({ doing: 'reconcile' });
  });
});

it.each([
  ['is no pull request', { hello: 'world' }, 'does not document: number'],
  ['nests too deep', JSON.parse('['.repeat(100) + ']'.repeat(100)), 'does not document: no JSON'],
])('is told of by its error where what came back %s', async (_what, answer, words) => {
  await begin();
  answers(answer);
  await turn();
  const { lastError } = (await people.ana.forges.get({ connectionId: connection.id })).connection;
  expect(lastError).toMatchObject({ doing: 'reconcile' });
  expect(lastError?.message).toContain(words);
});
