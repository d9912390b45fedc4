/**
 * Tests the reports of pipelines: the action as GitHub starts it and the job as GitLab runs it, both against
 * the real service.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { type People, programEnvironment } from '@muster/testing';
import { parse, parseAllDocuments } from 'yaml';
import { useMuster } from './muster.ts';

const muster = useMuster();
const run = promisify(execFile);
const workspaceRoot = path.resolve(import.meta.dirname, '../../..');
const templates = path.join(workspaceRoot, 'apps/cli/ci');

let people: People;
let chloe: Client;
let folder: string;
beforeAll(async () => {
  people = await muster.world.org();
  chloe = muster.apiClient(people.chloe);
  await chloe.projects.create({ key: 'WEB', name: 'Web' });
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-report-')));
});
afterAll(() => rm(folder, { recursive: true }));

/**
 * Creates work that was submitted on a branch, with a pull request if one is named. Without a branch it is
 * still held.
 */
async function startWork(branch: string | null, url?: string, projectId = 'WEB'): Promise<string> {
  const { story } = await chloe.stories.create({ projectId, title: 'Work', status: 'ready' });
  const { execution, leaseToken } = await chloe.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: story.key, start: true },
  });
  const held = { executionId: execution.id, leaseToken };
  if (branch === null) return execution.id;
  await chloe.deliveryExecutions.update({
    ...held,
    git: { branch, baseBranch: 'main', headSha: 'a'.repeat(40) },
  });
  await chloe.deliveryExecutions.complete({
    ...{ ...held, outcome: 'submitted' },
    ...(url !== undefined && { pullRequest: { number: Number(/\d+$/.exec(url)), url } }),
  });
  return execution.id;
}
const gitOf = async (executionId: string) =>
  (await chloe.deliveryExecutions.get({ executionId })).execution.git;

const at = '2026-11-21T09:30:00Z';
const repository = {
  ...{ id: 1, full_name: 'acme/web', html_url: 'https://github.com/acme/web', default_branch: 'main' },
};
const pullUrl = (number: number) => `https://github.com/acme/web/pull/${number}`;
const pullRequestPayload = (number: number, branch: string, more: object = {}) => ({
  ...{ number, html_url: pullUrl(number), title: 'Work', body: null, merged: false, merge_commit_sha: null },
  head: { ref: branch, sha: 'b'.repeat(40), repo: { id: 1 } },
  base: { ref: 'main', sha: 'c'.repeat(40), repo: { id: 1 } },
  ...{ created_at: at, updated_at: at, closed_at: null, merged_at: null },
  ...more,
});

describe('the action of GitHub', () => {
  let action: string;
  let main: string;
  let inputs: readonly string[];
  let runs = 0;
  beforeAll(async () => {
    action = path.join(folder, 'action');
    await run(process.execPath, ['tools/build/build-action.ts', action], { cwd: workspaceRoot });
    const stated = parse(await readFile(path.join(action, 'action.yml'), 'utf8')) as {
      runs: { main: string };
      inputs: object;
    };
    main = path.join(action, stated.runs.main);
    inputs = Object.keys(stated.inputs);
  });

  /** Starts the action as GitHub does: inputs and the event in the environment, outputs in a file. */
  async function start(
    event: string,
    payload: object,
    given: Readonly<Record<string, string>> = {},
    { token = people.chloe.me.token, from = 'acme/web' } = {},
  ) {
    runs += 1;
    const [eventPath, output] = [
      path.join(folder, `event-${runs}.json`),
      path.join(folder, `output-${runs}`),
    ];
    await writeFile(eventPath, JSON.stringify(payload));
    await writeFile(output, '');
    const values: Readonly<Record<string, string>> = { 'base-url': muster.url(), token, ...given };
    const { stdout } = await run(process.execPath, [main], {
      cwd: folder,
      env: {
        ...programEnvironment(),
        ...Object.fromEntries(inputs.map((name) => [`INPUT_${name.toUpperCase()}`, values[name] ?? ''])),
        ...{ GITHUB_ACTIONS: 'true', GITHUB_EVENT_NAME: event, GITHUB_EVENT_PATH: eventPath },
        ...{ GITHUB_REPOSITORY: from, GITHUB_RUN_ID: '4711', GITHUB_RUN_ATTEMPT: '1' },
        ...{ GITHUB_JOB: 'test', GITHUB_OUTPUT: output, HOME: folder },
      },
    });
    return { said: stdout, outputs: await readFile(output, 'utf8') };
  }

  it('takes a push for no work that landed, whose commits it brings along', async () => {
    const [landed, next] = [await startWork('topic/landed', pullUrl(90)), await startWork('topic/next')];
    await chloe.deliveryExecutions.recordForgeObservation({
      executionId: landed,
      observation: { dedupeKey: 'merge', kind: 'pr_merged', observedAt: '2026-11-21T09:00:00.000Z' },
    });
    const message = `Land\n\nMuster-Execution: ${landed}`;
    const { said } = await start('push', {
      ...{ ref: 'refs/heads/topic/next', after: 'd'.repeat(40), commits: [{ message, timestamp: at }] },
      ...{ head_commit: { message: "Merge branch 'main'", timestamp: at }, repository },
    });
    expect(said).toBe(`branch_pushed: recorded for execution ${next}\n`);
  });

  const pushOf = (branch: string, [before, after]: readonly [string, string]) => ({
    ...{ ref: `refs/heads/${branch}`, before: before.repeat(40), after: after.repeat(40), repository },
    head_commit: { message: 'Work', timestamp: at },
  });

  it('touches no work of another repository', async () => {
    const url = 'https://github.com/acme/api';
    await chloe.projects.create({ key: 'API', name: 'API', repository: { provider: 'github', url } });
    const executionId = await startWork('topic/shared', undefined, 'API');
    const push = pushOf('topic/shared', ['0', 'd']);
    expect((await start('push', push)).said).toBe(
      'branch_pushed: not recorded: no work in https://github.com/acme/web has topic/shared\n',
    );
    const message = `Work\n\nMuster-Execution: ${executionId}`;
    const naming = { ...push, head_commit: { message, timestamp: at } };
    for (const [payload, given] of [
      [naming, {}],
      [push, { execution: executionId }],
    ] as const)
      expect((await start('push', payload, given)).said).toBe(
        `branch_pushed: not recorded: the work of execution ${executionId} is in another repository\n`,
      );
    expect(await gitOf(executionId)).toMatchObject({ headSha: 'a'.repeat(40) });
    expect((await start('push', push, {}, { from: 'Acme/api' })).said).toBe(
      `branch_pushed: recorded for execution ${executionId}\n`,
    );
  });

  it('keeps the newer of two pushes of one second, whichever is reported last', async () => {
    const executionId = await startWork('topic/order');
    for (const heads of [
      ['a', 'd'],
      ['e', 'f'],
      ['d', 'e'],
    ] as const)
      await start('push', pushOf('topic/order', heads));
    expect(await gitOf(executionId)).toMatchObject({ headSha: 'f'.repeat(40) });
  });

  it('keeps the request for changes of one reviewer when another approves', async () => {
    const executionId = await startWork('topic/review', pullUrl(92));
    const review = async (state: string, id: number, second: number) => {
      const submitted = { submitted_at: `2026-11-21T10:00:0${second}Z`, commit_id: 'b'.repeat(40) };
      await start('pull_request_review', {
        ...{ action: 'submitted', repository, pull_request: pullRequestPayload(92, 'topic/review') },
        review: { ...submitted, state, user: { id } },
      });
      return (await chloe.deliveryExecutions.get({ executionId })).execution.needsRework;
    };
    expect(await review('changes_requested', 1, 1)).toBe(true);
    expect(await review('approved', 2, 2)).toBe(true);
    expect(await review('approved', 1, 3)).toBe(false);
  });

  it('records a pull request that replaced a closed one, and one for all work submitted with it', async () => {
    const replaced = await startWork('topic/again', pullUrl(93));
    const events = [
      ['closed', pullRequestPayload(93, 'topic/again', { closed_at: '2026-11-21T09:31:00Z' })],
      ['opened', pullRequestPayload(94, 'topic/again', { created_at: '2026-11-21T09:32:00Z' })],
      ['reopened', pullRequestPayload(94, 'topic/again', { updated_at: '2026-11-21T09:33:00Z' })],
    ] as const;
    for (const [action, pullRequest] of events)
      expect((await start('pull_request', { action, pull_request: pullRequest, repository })).outputs).toBe(
        `execution=${replaced}\nrecorded=1\n`,
      );
    const both = [await startWork('topic/both', pullUrl(95)), await startWork('topic/too', pullUrl(95))];
    const payload = { action: 'opened', pull_request: pullRequestPayload(95, 'topic/both'), repository };
    const { said } = await start('pull_request', payload);
    expect(said.trimEnd().split('\n').toSorted()).toEqual(
      both.map((id) => `pr_opened: recorded for execution ${id}`).toSorted(),
    );
  });

  it('finds the work of a pull request whose address has other capitals', async () => {
    const executionId = await startWork('topic/capitals', pullUrl(91).replace('acme/web', 'Acme/Web'));
    const payload = { action: 'opened', pull_request: pullRequestPayload(91, 'topic/capitals'), repository };
    expect((await start('pull_request', payload)).said).toBe(
      `pr_opened: recorded for execution ${executionId}\n`,
    );
  });

  it('records the pull request and its checks for the work of the branch, and once', async () => {
    const executionId = await startWork('muster/web-1-e1-work');
    const payload = {
      action: 'opened',
      pull_request: pullRequestPayload(7, 'muster/web-1-e1-work'),
      repository,
    };
    const first = await start('pull_request', payload, { checks: 'success' });
    expect(first).toEqual({
      said: `pr_opened: recorded for execution ${executionId}\nchecks_passed: recorded for execution ${executionId}\n`,
      outputs: `execution=${executionId}\nrecorded=2\n`,
    });
    expect(await gitOf(executionId)).toMatchObject({
      ...{ headSha: 'b'.repeat(40), checks: 'passing' },
      pullRequest: { number: 7, url: pullUrl(7), state: 'open' },
    });
    const again = await start('pull_request', payload, { checks: 'success' });
    expect(again.outputs).toBe(`execution=${executionId}\nrecorded=0\n`);
    expect(again.said).toContain('checks_passed: not recorded: it was already recorded');
  });

  it('finds work by the line of the pull request, by its address, and as it is told', async () => {
    const [named, handedIn, told] = [
      await startWork(null),
      await startWork('two', pullUrl(8)),
      await startWork('three'),
    ];
    const opened = (number: number, more: object) =>
      start('pull_request', {
        ...{ action: 'opened', repository },
        pull_request: pullRequestPayload(number, 'another', more),
      });
    expect((await opened(9, { body: `Muster-Execution: ${named}` })).outputs).toContain(
      `execution=${named}\n`,
    );
    const elsewhere = { body: `Muster-Execution: ${told}` };
    expect((await opened(11, elsewhere)).outputs).toBe('execution=\nrecorded=0\n');
    // The pull request of a fork is identified only by its URL. Its branch and description are not trusted.
    const head = { ref: 'one', sha: 'd'.repeat(40), repo: { id: 2 } };
    const foreign = { head, body: `Muster-Execution: ${named}` };
    expect((await opened(8, foreign)).outputs).toContain(`execution=${handedIn}\n`);
    expect((await opened(10, foreign)).outputs).toBe('execution=\nrecorded=0\n');
    const push = { ref: 'refs/heads/x', after: 'e'.repeat(40), head_commit: { message: 'x', timestamp: at } };
    const pushed = await start('push', { ...push, repository }, { execution: told, checks: 'failure' });
    expect(pushed.outputs).toBe(`execution=${told}\nrecorded=2\n`);
    expect(await gitOf(told)).toMatchObject({ headSha: 'e'.repeat(40), checks: 'failing' });
  });

  it('hears of a workflow that has ended, and of what does not matter says why', async () => {
    const executionId = await startWork('muster/web-2-e1-work');
    const run_ = {
      ...{ id: 1, workflow_id: 2, head_branch: 'muster/web-2-e1-work', head_sha: 'f'.repeat(40) },
      ...{ conclusion: 'failure', updated_at: at, head_repository: { id: 1 } },
    };
    const ended = await start('workflow_run', { action: 'completed', workflow_run: run_, repository });
    expect(ended.said).toBe(`checks_failed: recorded for execution ${executionId}\n`);
    const push = { ref: 'refs/heads/main', after: 'e'.repeat(40), repository };
    const onMain = await start('push', push, { checks: 'success' });
    expect(onMain).toEqual({
      said: 'Nothing to record: a push to the default branch.\n',
      outputs: 'execution=\nrecorded=0\n',
    });
  });

  it('records nothing without the token that forks lack, and fails without one otherwise', async () => {
    const opened = (id: number) => ({
      ...{ action: 'opened', repository },
      pull_request: pullRequestPayload(9, 'x', { head: { ref: 'x', sha: 'a'.repeat(40), repo: { id } } }),
    });
    const { said } = await start('pull_request', opened(2), {}, { token: '' });
    expect(said).toBe('Nothing was recorded: the pipeline runs for a fork, which has no token.\n');
    await expect(start('pull_request', opened(1), {}, { token: '' })).rejects.toMatchObject({ code: 2 });
    await expect(start('pull_request', opened(1), { checks: 'maybe' })).rejects.toMatchObject({ code: 2 });
  });
});

describe('the template of GitLab', () => {
  let jobs: Record<string, { script: string[]; variables: Record<string, string>; extends: string }>;
  let tarball: string;
  beforeAll(async () => {
    await run(process.execPath, ['tools/build/pack.ts', folder, 'apps/cli'], { cwd: workspaceRoot });
    const [name = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
    tarball = path.join(folder, name);
    const inputs = { version: `file:${tarball}`, image: 'node' };
    const text = (await readFile(path.join(templates, 'gitlab.yml'), 'utf8')).replaceAll(
      /\$\[\[ inputs\.(\w+) \]\]/g,
      (_, input: string) => inputs[input as keyof typeof inputs],
    );
    jobs = parseAllDocuments(text)[1]?.toJS() as typeof jobs;
  });

  /** Runs the lines of a job in the shell of a runner, with the variables that GitLab sets. */
  async function start(job: string, variables: Readonly<Record<string, string>>): Promise<string> {
    const { variables: own, extends: base } = jobs[job] ?? { variables: {}, extends: '' };
    const { stdout } = await run('sh', ['-ec', (jobs[base]?.script ?? []).join('\n')], {
      cwd: folder,
      env: {
        ...programEnvironment(),
        ...muster.environmentOf(people.chloe),
        ...{ ...own, ...variables, HOME: folder, GITLAB_CI: 'true' },
        ...{ npm_config_offline: 'true', npm_config_cache: path.join(folder, 'cache') },
        ...{ CI_PROJECT_URL: 'https://gitlab.com/acme/web', CI_DEFAULT_BRANCH: 'main', CI_PROJECT_ID: '1' },
        CI_PIPELINE_CREATED_AT: at,
      },
    });
    return stdout;
  }

  it('records a pipeline of a branch that passed, and one of its merge request that failed', async () => {
    const executionId = await startWork('muster/web-3-e1-work');
    const branch = { CI_COMMIT_BRANCH: 'muster/web-3-e1-work', CI_COMMIT_SHA: '1'.repeat(40) };
    expect(await start('muster-passed', { ...branch, CI_PIPELINE_ID: '1' })).toBe(
      `branch_pushed: recorded for execution ${executionId}\nchecks_passed: recorded for execution ${executionId}\n`,
    );
    expect(await gitOf(executionId)).toMatchObject({ headSha: '1'.repeat(40), checks: 'passing' });
    const request = {
      ...{ CI_MERGE_REQUEST_IID: '5', CI_MERGE_REQUEST_PROJECT_URL: 'https://gitlab.com/acme/web' },
      ...{ CI_MERGE_REQUEST_PROJECT_ID: '1', CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '1' },
      ...{ CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'muster/web-3-e1-work', CI_COMMIT_SHA: '3'.repeat(40) },
      ...{ CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: '2'.repeat(40), CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main' },
    };
    expect(await start('muster-failed', { ...request, CI_PIPELINE_ID: '2' })).toBe(
      `pr_updated: recorded for execution ${executionId}\nchecks_failed: recorded for execution ${executionId}\n`,
    );
    expect(await gitOf(executionId)).toMatchObject({
      ...{ headSha: '2'.repeat(40), checks: 'failing' },
      pullRequest: { number: 5, url: 'https://gitlab.com/acme/web/-/merge_requests/5' },
    });
  });

  it('leaves the default branch alone', async () => {
    const main = { CI_COMMIT_BRANCH: 'main', CI_COMMIT_SHA: '1'.repeat(40), CI_PIPELINE_ID: '3' };
    expect(await start('muster-passed', main)).toBe('Nothing to record: it is on the default branch.\n');
  });
});
