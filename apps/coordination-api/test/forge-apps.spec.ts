/** The page that creates a GitHub App: access to it, its request to GitHub, and GitHub's response. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { type AllHandlers } from '@muster/operations';
import { type People } from '@muster/testing';
import { useApi } from './api.ts';

const baseUrl = 'https://muster.example';
const api = useApi({
  ...{ SECRETS_KEY: 'k'.repeat(32), BASE_URL: baseUrl, LIMIT_UNKNOWN_TOKENS: '1000/0.01' },
});

let people: People<AllHandlers>;
let ana: Client;
let connectionId: string;
let page: URL;

beforeEach(async () => {
  people = await api.org();
  ana = api.client(people.ana.me.token);
  const { connection, setup } = await ana.forges.connect({ kind: 'github' });
  connectionId = connection.id;
  page = new URL(setup.manifestUrl ?? '');
});

const visit = (path: string) => fetch(`${api.url()}${path}`, { redirect: 'manual' });
const open = async (more = '') => {
  const answer = await visit(`${page.pathname}${page.search}${more}`);
  return { answer, text: await answer.text() };
};
const ticket = () => page.searchParams.get('ticket') ?? '';
const visitCallback = (state = ticket(), code = 'a180b1a3') =>
  visit(`${page.pathname}/made?code=${code}&state=${state}`);
const unescaped = (text: string): string =>
  text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
const valueOf = (text: string, pattern: RegExp): string => unescaped(pattern.exec(text)?.[1] ?? '');
const listJobs = () =>
  api.world.rows<{ payload: { connectionId: string; code: string } }>(
    `select payload from outbox where org_id = $1 and topic = 'forge.app'`,
    people.orgId,
  );

describe('the page', () => {
  it('stands in the answer to who connects GitHub without credentials, and in no other', async () => {
    expect(`${page.origin}${page.pathname}`).toBe(`${baseUrl}/hooks/forges/${connectionId}/app`);
    const others = await Promise.all([
      ana.forges.connect({ kind: 'gitlab' }),
      ana.forges.connect({ kind: 'github', credentials: { token: 'ghp_1' } }),
    ]);
    expect(others.map(({ setup }) => setup.manifestUrl)).toEqual([null, null]);
    const { setup } = await ana.forges.update({ connectionId, rotateSecret: true });
    expect(setup?.manifestUrl).toContain(page.pathname);
  });

  it('posts the manifest to GitHub, which sends the browser back with the ticket', async () => {
    const { answer, text } = await open();
    expect(answer.status).toBe(200);
    expect(valueOf(text, /form action="([^"]*)" method="post"/)).toBe(
      `https://github.com/settings/apps/new?state=${ticket()}`,
    );
    expect(JSON.parse(valueOf(text, /name="manifest" value="([^"]*)"/))).toMatchObject({
      url: baseUrl,
      hook_attributes: { url: `${baseUrl}/hooks/forges/${connectionId}`, active: true },
      redirect_url: `${baseUrl}/hooks/forges/${connectionId}/app/made`,
      public: false,
      default_events: expect.arrayContaining(['pull_request', 'check_suite', 'push']),
      default_permissions: { checks: 'write', pull_requests: 'read', contents: 'read', metadata: 'read' },
    });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringContaining("form-action 'self' https://github.com;"),
    });
    expect(text).not.toContain('<script');
  });

  it('posts it to an organization, by a name that GitHub takes', async () => {
    const { text } = await open('&organization=acme-inc');
    expect(valueOf(text, /form action="([^"]*)" method="post"/)).toBe(
      `https://github.com/organizations/acme-inc/settings/apps/new?state=${ticket()}`,
    );
    for (const name of ['a/b', '..', '-a', 'a--b', 'a%22%3E', 'a'.repeat(40)]) {
      const { answer } = await open(`&organization=${name}`);
      expect([name, answer.status]).toEqual([name, 400]);
    }
  });

  it('opens for its ticket alone, for an hour', async () => {
    const other = await ana.forges.connect({ kind: 'github' });
    const foreign = new URL(other.setup.manifestUrl ?? '').search;
    const changed = `${ticket().startsWith('A') ? 'B' : 'A'}${ticket().slice(1)}`;
    for (const search of ['', '?ticket=x', `?ticket=${changed}`, foreign]) {
      const answer = await visit(`${page.pathname}${search}`);
      expect([search, answer.status]).toEqual([search, 401]);
      expect(await answer.text()).toContain('forges.update');
    }
    for (const path of ['/hooks/forges/x/app', page.pathname.replace(connectionId, people.orgId)])
      expect((await visit(`${path}${page.search}`)).status).toBe(404);
    const now = Date.now;
    Date.now = () => now() + 61 * 60_000;
    try {
      expect((await open()).answer.status).toBe(401);
      expect((await visitCallback()).status).toBe(401);
    } finally {
      Date.now = now;
    }
    expect((await open()).answer.status).toBe(200);
  });

  it('costs an address a share where it is refused, and nothing where it is shown', async () => {
    const strict = await api.startReplica({ LIMIT_UNKNOWN_TOKENS: '3/3600', SECRETS_KEY: 'k'.repeat(32) });
    const statuses = async (search: string) => {
      const all: number[] = [];
      for (let visits = 0; visits < 5; visits += 1)
        all.push((await fetch(`${strict.url()}${page.pathname}${search}`)).status);
      return all;
    };
    expect(await statuses(page.search)).toEqual([200, 200, 200, 200, 200]);
    expect(await statuses('?ticket=x')).toEqual([401, 401, 401, 429, 429]);
    await strict.stop();
  });

  it('is gone with the connection', async () => {
    await ana.forges.disconnect({ connectionId });
    expect((await open()).answer.status).toBe(404);
  });
});

describe('the way back from GitHub', () => {
  it('has the keys fetched, and says so until they are there', async () => {
    const answer = await visitCallback();
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      `${page.pathname}?ticket=${ticket()}&made=1`,
    ]);
    expect(await listJobs()).toMatchObject([{ payload: { connectionId, code: expect.any(String) } }]);
    expect((await listJobs())[0]?.payload.code).not.toContain('a180b1a3');
    expect((await open('&made=1')).answer.headers.get('refresh')).toBe('2');
    await api.world.rows(
      `update forge_connections set credentials = '\\x00', credentials_kind = 'app', app_url = 'https://github.com/apps/muster-acme' where id = $1`,
      connectionId,
    );
    expect((await open('&made=1')).text).toContain(
      'href="https://github.com/apps/muster-acme/installations/new"',
    );
  });

  it('says what went wrong, and offers to make another', async () => {
    await visitCallback();
    await api.world.rows(
      `update forge_connections set last_error = '{"at": "2026-11-21T09:30:00.000Z", "doing": "makeApp", "message": "<b>Not Found"}' where id = $1`,
      connectionId,
    );
    const { text } = await open('&made=1');
    expect(text).toContain('&#60;b&#62;Not Found');
    expect(text).toContain('method="post"');
  });

  it('asks for nothing where the ticket or the code is none, or there are credentials', async () => {
    for (const [state, code, status] of [
      ['x', 'a180b1a3', 401],
      [ticket(), '', 400],
      [ticket(), '..%2F..', 400],
    ] as const)
      expect((await visitCallback(state, code)).status).toBe(status);
    await ana.forges.update({ connectionId, credentials: { token: 'ghp_1' } });
    expect((await visitCallback()).status).toBe(303);
    expect(await listJobs()).toEqual([]);
    expect((await open()).text).toContain('already has credentials');
  });
});
