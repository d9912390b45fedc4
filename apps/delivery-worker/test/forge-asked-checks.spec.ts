/** The worker asks the forge's API for checks that the forge did not deliver. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { acmeRepository, pullEvent, timeAfterSeconds, shaOf, suiteEvent } from '@muster/testing/github';
import {
  isPull,
  pullRequest,
  mergeRequest,
  mergeUrl,
  forgePullAnswer,
  useForgeFixture,
} from './asked-forge.ts';
import { deliver } from './forge-deliveries.ts';
import { replyWith } from './forge-server.ts';

const { world, now, begin, beQuiet, turn, gets, executionNow, deliveries, answers } = useForgeFixture();
const [a, b] = [shaOf('a'), shaOf('b')];

describe('checks that were not delivered', () => {
  const open = () => forgePullAnswer(pullEvent(pullRequest, 'edited', a, 3), 'open');
  const suite = (id: number, conclusion: string | null, runs = 1) => ({
    ...{ id, head_sha: a, status: conclusion === null ? 'queued' : 'completed', conclusion },
    ...{ updated_at: timeAfterSeconds(4), app: { id }, latest_check_runs_count: runs },
  });
  const run = (workflow_id: number, conclusion: string | null) => ({
    ...{ id: 70 + workflow_id, workflow_id, head_sha: a, status: 'completed', conclusion },
    updated_at: timeAfterSeconds(4),
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
    (await now.people.ana.forges.get({ connectionId: now.connection.id })).connection.lastError;

  it('are known once GitHub is asked, and are kept once', async () => {
    await begin();
    const passed = { context: 'ci/lint', state: 'success', updated_at: timeAfterSeconds(4) };
    const ours = { context: 'muster', state: 'pending', updated_at: timeAfterSeconds(4) };
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
    const failed = { ...suite(3, 'failure'), updated_at: timeAfterSeconds(9) };
    now.forge.answer(({ method, path }, response) => {
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
      now.people,
      now.connection,
      suiteEvent(pullRequest, a, { app: 3, conclusion: 'success', seconds: 4 }),
    );
    answers(open(), {}, ofGitHub([{ ...suite(3, 'success'), updated_at: timeAfterSeconds(5) }]));
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
    answers(
      open(),
      {},
      ofGitHub([suite(3, 'success'), { ...suite(4, 'success'), updated_at: timeAfterSeconds(8) }]),
    );
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
    const statuses = [{ context: 'ci', status: 'failure', updated_at: timeAfterSeconds(4) }];
    answers(open(), {}, { '/status': { sha: a, statuses } });
    await turn();
    expect(await checksNow()).toBe('failing');
  });

  it('are known once Forgejo is asked for its runs', async () => {
    await begin('forgejo');
    const run_ = {
      id: 9,
      index_in_repo: 2,
      workflow_id: 'ci.yml',
      event: 'push',
      updated: timeAfterSeconds(4),
    };
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
    const status = (context: string, said: string) => ({
      context,
      status: said,
      updated_at: timeAfterSeconds(4),
    });
    now.forge.answer(({ path }, response) => {
      const page = new URL(path, now.forge.url).searchParams.get('page');
      const link = {
        link: `<${now.forge.url}/elsewhere?page=2>; rel="next", <${now.forge.url}>; rel="last"`,
      };
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
    const pipeline = { ...of, id: 5, source: 'merge_request_event', created_at: timeAfterSeconds(3) };
    const passed = [{ ...pipeline, status: 'success', updated_at: timeAfterSeconds(4) }];
    answers({ ...mergeRequest, state: 'opened', sha: a, web_url: mergeUrl }, {}, { '/pipelines': passed });
    await turn();
    expect(gets().at(-1)?.path).toBe(`/api/v4/projects/${acmeRepository.id}/pipelines?sha=${a}&per_page=100`);
    expect(await checksNow()).toBe('passing');
  });
});
