/** Tests the commit statuses that the worker sends to forges about submitted work. */
import { generateKeyPairSync } from 'node:crypto';
import { type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { handlers, reactions, withInternalHandlers } from '@muster/operations';
import { type ForgeKind } from '@muster/contract';
import { type PeopleOf, waitUntil, useWorld } from '@muster/testing';
import { type ForgeWithSecret, deliver } from './forge-deliveries.ts';
import { type ForgeJobs, openForgeJobs } from './forge-jobs.ts';
import { type ForgeServer, openForge, replyWith } from './forge-server.ts';
import {
  acmeRepository,
  pullEvent,
  type PullRequestExample,
  timeAfterSeconds,
  shaOf,
  suiteEvent,
} from '@muster/testing/github';

const world = useWorld(withInternalHandlers(handlers), reactions);
const [a, b] = [shaOf('a'), shaOf('b')];
const life: PullRequestExample = {
  ...{ repository: acmeRepository, number: 7, branch: 'topic', base: 'main', title: 'Land it', body: null },
};

let people: PeopleOf<typeof world>;
let forge: ForgeServer;
let jobs: ForgeJobs;
let connection: ForgeWithSecret;
let storyId: string;
let held: { executionId: string; leaseToken: string };

beforeEach(async () => {
  forge = await openForge();
  jobs = openForgeJobs(world);
  people = await world.org({ policy: { requiredApprovals: 1 } });
  await people.ana.projects.create({ key: 'WEB', name: 'Web' });
});
afterEach(async () => {
  jobs.close();
  await forge.close();
});

type Credentials = Parameters<PeopleOf<typeof world>['ana']['forges']['connect']>[0]['credentials'];
const tokenCredentials: Credentials = { token: 'forge-token' };

/** Connects a forge and creates work with an open pull request, whose head is the commit `a`. */
async function begin(
  kind: ForgeKind = 'github',
  credentials: Credentials | null = tokenCredentials,
): Promise<void> {
  const { connection: made, setup } = await people.ana.forges.connect({
    ...{ kind, baseUrl: forge.url },
    ...(credentials !== null && { credentials }),
  });
  connection = { id: made.id, kind, secret: setup.secret };
  await people.ana.forges.repositories.link({
    ...{ projectId: 'WEB', connectionId: made.id, externalId: String(acmeRepository.id) },
  });
  const { story } = await people.ana.stories.create({
    projectId: 'WEB',
    title: 'Land',
    status: 'in_progress',
  });
  storyId = story.id;
  await people.ana.reviewers.add({ storyId, memberId: people.ben.me.memberId });
  const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: storyId },
  });
  held = { executionId: execution.id, leaseToken };
  await people.chloe.deliveryExecutions.update({ ...held, git: { branch: 'topic' } });
  await send(kind === 'gitlab' ? openedMergeEvent : pullEvent(life, 'opened', a, 1));
}
/** A GitLab delivery about an opened merge request. */
const openedMergeEvent = {
  event: 'Merge Request Hook',
  payload: {
    project: {
      ...{ id: acmeRepository.id, web_url: acmeRepository.html_url },
      ...{ path_with_namespace: 'acme/api', default_branch: 'main' },
    },
    object_attributes: {
      ...{ iid: 7, url: `${acmeRepository.html_url}/-/merge_requests/7`, title: 'Land it', action: 'open' },
      ...{ source_branch: 'topic', target_branch: 'main', last_commit: { id: a } },
      ...{ source_project_id: acmeRepository.id, target_project_id: acmeRepository.id },
      ...{ created_at: timeAfterSeconds(1), updated_at: timeAfterSeconds(1) },
    },
  },
};
const send = async (sent: Parameters<typeof deliver>[3]): Promise<void> => {
  await deliver(world, people, connection, sent);
};
const settle = () => jobs.settle(people.orgId);
const sentStatuses = () => forge.asked.map(({ body }) => body as { state: string; description: string });
const lastStatus = () => [sentStatuses().at(-1)?.state, sentStatuses().at(-1)?.description];
const approve = async (verdict: 'approved' | 'changes_requested' = 'approved') => {
  await people.ben.reviewers.setVerdict({ storyId, verdict, note: 'See above.' });
};
const connectionNow = async () => (await people.ana.forges.get({ connectionId: connection.id })).connection;

describe('the status of a head', () => {
  it('says what is missing until it is there, and is sent when that changes and at no other time', async () => {
    await begin();
    await settle();
    expect(forge.asked).toMatchObject([
      {
        ...{ method: 'POST', path: `/api/v3/repos/acme/api/statuses/${a}` },
        headers: { authorization: 'Bearer forge-token', 'user-agent': 'Muster' },
        body: {
          ...{ context: 'muster', state: 'pending' },
          description: 'spec v0 · 0 of 1 approvals · no lock conflicts',
          target_url: 'https://muster.example/stories/WEB-1',
        },
      },
    ]);
    await approve();
    await settle();
    expect(lastStatus()).toEqual(['success', 'spec v0 · 1 of 1 approvals · no lock conflicts']);
    await people.ana.comments.create({ storyId, body: 'Fine.' });
    await people.chloe.stories.updateGitMeta({ storyId, git: { baseBranch: 'main' } });
    await people.ana.policy.update({ completeStoryOnMerge: true });
    await settle();
    expect(forge.asked).toHaveLength(2);
    expect((await connectionNow()).lastStatusAt).not.toBeNull();
  });

  it('does not count what was approved of another spec, or of other code', async () => {
    await begin();
    await approve();
    await settle();
    await people.ana.storySpec.update({ storyId, content: 'Otherwise.' });
    await settle();
    expect(lastStatus()).toEqual(['pending', 'spec v1 · 0 of 1 approvals, 1 stale · no lock conflicts']);
    await approve();
    await settle();
    expect(lastStatus()[0]).toBe('success');
    await send(pullEvent(life, 'synchronize', b, 5));
    await settle();
    expect(forge.asked.at(-1)?.path).toContain(b);
    expect(lastStatus()).toEqual(['pending', 'spec v1 · 0 of 1 approvals, 1 stale · no lock conflicts']);
  });

  it('is against a merge while changes are requested, or others have locked its files', async () => {
    await begin();
    await approve('changes_requested');
    await settle();
    expect(lastStatus()[0]).toBe('failure');
    expect(lastStatus()[1]).toMatch(/^changes requested by 1 · /);
    await approve();
    await people.chloe.deliveryExecutions.checkpoint({
      ...held,
      summary: 'Half.',
      filesTouched: ['src/a.ts'],
    });
    const { lock } = await people.ben.locks.acquire({ projectId: 'WEB', resources: ['src/**'] });
    await settle();
    expect(lastStatus()).toEqual(['failure', 'spec v0 · 1 of 1 approvals · src/a.ts is locked by others']);
    await people.ben.locks.release({ lockId: lock?.id ?? '' });
    await settle();
    expect(lastStatus()[0]).toBe('success');
  });

  it('is sent to no pull request that is closed, and to no forge that cannot be called', async () => {
    await begin('github', null);
    await approve();
    expect(await jobs.listPending(people.orgId)).toEqual([]);
    await people.ana.forges.update({ connectionId: connection.id, credentials: tokenCredentials });
    await settle();
    expect(lastStatus()[0]).toBe('success');
    await send(pullEvent(life, 'closed', a, 4, { closed_at: timeAfterSeconds(4) }));
    await people.ana.policy.update({ requiredApprovals: 2 });
    await settle();
    expect(forge.asked).toHaveLength(1);
  });

  it('ends as what is so, though an older answer comes after a newer change', async () => {
    await begin();
    const responses: ServerResponse[] = [];
    forge.answer((_, response) => responses.push(response));
    const [first] = (await jobs.listPending(people.orgId)).filter(({ topic }) => topic === 'forge.status');
    if (first === undefined) throw new Error('nothing is to be sent');
    const sending = jobs.perform(people.orgId, first);
    await waitUntil(() => responses.length === 1);
    await approve();
    // Other jobs for the same status send nothing while the first request runs, because the first job
    // compares the status again when its request ends.
    const others = (await jobs.listPending(people.orgId)).filter(({ id }) => id !== first.id);
    expect(others.length).toBeGreaterThan(0);
    for (const other of others) await jobs.perform(people.orgId, other);
    expect(forge.asked).toHaveLength(1);
    forge.answer({ status: 201 });
    for (const response of responses) replyWith(response, 201);
    await sending;
    await settle();
    expect(sentStatuses().map(({ state }) => state)).toEqual(['pending', 'success']);
  });
});

describe('a status that is not taken', () => {
  it('is seen at the connection, and sent when it can be called otherwise', async () => {
    await begin();
    forge.answer({ status: 401, json: { message: 'Bad credentials' } });
    await settle();
    const { lastError, lastStatusAt } = await connectionNow();
    expect(lastError).toMatchObject({ doing: 'sendStatus' });
    expect(lastError?.message).toMatch(/^127\.0\.0\.1:\d+ answered 401: Bad credentials$/);
    expect(lastStatusAt).toBeNull();
    forge.answer({ status: 201 });
    await people.ana.forges.update({ connectionId: connection.id, credentials: { token: 'another' } });
    await settle();
    expect(forge.asked.at(-1)?.headers.authorization).toBe('Bearer another');
    expect((await connectionNow()).lastError).toBeNull();
  });

  it('is not sent with the credentials of one address to another that is named in its place', async () => {
    await begin();
    const change = async (changes: { baseUrl: string; credentials?: { token: string } }) =>
      (await people.ana.forges.update({ connectionId: connection.id, ...changes })).connection;
    expect(await change({ baseUrl: `${forge.url}/` })).toMatchObject({ credentialsKind: 'token' });
    const other = await openForge();
    try {
      expect(await change({ baseUrl: other.url })).toMatchObject({
        ...{ baseUrl: other.url, credentialsKind: null },
      });
      await approve();
      await settle();
      expect(other.asked).toEqual([]);
      await change({ baseUrl: forge.url, credentials: { token: 'another' } });
      await settle();
      expect(forge.asked.at(-1)?.headers.authorization).toBe('Bearer another');
    } finally {
      await other.close();
    }
  });

  it('is tried again where the forge is out of order', async () => {
    await begin();
    forge.answer({ status: 502 });
    await expect(settle()).rejects.toThrow('answered 502');
    expect((await connectionNow()).lastError?.message).toContain('answered 502');
    const [row] = await jobs.listPending(people.orgId);
    expect(row?.error).toContain('answered 502');
    forge.answer({ status: 201 });
    if (row !== undefined) await jobs.perform(people.orgId, row);
    expect(lastStatus()[0]).toBe('pending');
    expect((await connectionNow()).lastError).toBeNull();
  });

  it('waits for as long as the forge asks, and so does all that is sent there', async () => {
    await begin();
    const reset = Math.floor(Date.now() / 1_000) + 600;
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) };
    forge.answer({ status: 403, headers, json: { message: 'API rate limit exceeded' } });
    await settle();
    await approve();
    await settle();
    expect(forge.asked).toHaveLength(1);
    const dueIn = (await jobs.listPending(people.orgId)).map((row) => row.dueIn);
    expect(Math.min(...dueIn)).toBeGreaterThan(500);
    expect((await connectionNow()).lastError?.message).toContain('API rate limit exceeded');
  });

  it('was sent nowhere, where nothing may be sent to', async () => {
    jobs.close();
    jobs = openForgeJobs(world, '');
    await begin();
    await settle();
    expect(forge.asked).toEqual([]);
    expect((await connectionNow()).lastError?.message).toContain('not sent: the address points to');
  });
});

describe('each forge', () => {
  it.each(['gitea', 'forgejo'] as const)('%s has commit statuses', async (kind) => {
    await begin(kind);
    await settle();
    expect(forge.asked.filter(({ method }) => method === 'POST')).toMatchObject([
      {
        path: `/api/v1/repos/acme/api/statuses/${a}`,
        headers: { authorization: 'token forge-token' },
        body: { context: 'muster', state: 'pending' },
      },
    ]);
  });

  /**
   * Simulates GitHub with an app whose installation accepts only the given token. Returns the requests that
   * the simulated GitHub received.
   */
  const answersApp = (token: string) => {
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    forge.answer(({ path, headers }, response) => {
      if (path.endsWith('/installation')) replyWith(response, 200, { id: 99 });
      else if (path.endsWith('/access_tokens')) replyWith(response, 201, { token, expires_at: expires });
      else replyWith(response, headers['authorization'] === `Bearer ${token}` ? 201 : 401);
    });
    const { privateKey } = generateKeyPairSync('rsa', {
      ...{ modulusLength: 2_048, publicKeyEncoding: { type: 'spki', format: 'pem' } },
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    });
    return { appId: 5, privateKey };
  };

  it('GitLab has a pipeline, which a missing status does not fail', async () => {
    await begin('gitlab');
    await approve('changes_requested');
    await settle();
    expect(forge.asked[0]).toMatchObject({
      path: `/api/v4/projects/${acmeRepository.id}/statuses/${a}`,
      headers: { authorization: 'Bearer forge-token' },
      body: { name: 'muster', state: 'pending' },
    });
    const message = 'Cannot transition status via :enqueue from :pending';
    forge.answer({ status: 400, json: { message } });
    await approve();
    await people.ana.policy.update({ requiredApprovals: 2 });
    await settle();
    expect((await connectionNow()).lastError).toBeNull();
  });

  it('GitHub has checks where it is called as an app, whose own suite is no check of the work', async () => {
    await begin('github', answersApp('installed'));
    await settle();
    await approve();
    await settle();
    expect(forge.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /api/v3/repos/acme/api/installation',
      'POST /api/v3/app/installations/99/access_tokens',
      'POST /api/v3/repos/acme/api/check-runs',
      'POST /api/v3/repos/acme/api/check-runs',
    ]);
    expect(forge.asked.slice(2)).toMatchObject([
      {
        headers: { authorization: 'Bearer installed' },
        body: { name: 'muster', head_sha: a, status: 'in_progress' },
      },
      { body: { status: 'completed', conclusion: 'success' } },
    ]);
    const checks = async () =>
      (await people.ana.deliveryExecutions.get({ executionId: held.executionId })).execution.git?.checks;
    await send(suiteEvent(life, a, { app: 5, conclusion: 'failure', seconds: 3 }));
    expect(await checks()).toBeNull();
    await send(suiteEvent(life, a, { app: 6, conclusion: 'failure', seconds: 3 }));
    expect(await checks()).toBe('failing');
  });

  it('GitHub has them by the next token where the app was installed anew in the hour of the one before', async () => {
    await begin('github', answersApp('installed'));
    await settle();
    answersApp('anew');
    await approve();
    await expect(settle()).rejects.toThrow('revoked the installation token');
    const [row] = await jobs.listPending(people.orgId);
    if (row !== undefined) await jobs.perform(people.orgId, row);
    expect(forge.asked.at(-1)).toMatchObject({
      ...{ path: '/api/v3/repos/acme/api/check-runs', headers: { authorization: 'Bearer anew' } },
      body: { status: 'completed', conclusion: 'success' },
    });
    expect((await connectionNow()).lastError).toBeNull();
  });
});
