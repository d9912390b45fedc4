/**
 * Tests the logs of the services. They contain the actor, the operation, its result and its duration. They
 * contain no text that users wrote, and no secret.
 */
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { waitUntil } from '@muster/testing';
import { type MonitoringServers, openGround } from './ground.ts';
import { type Monitored, startInstallation, type WatchedApp } from './installation.ts';

/** Starting several processes may take long on a busy machine. The timeout only ends tests that hang. */
jest.setTimeout(240_000);

interface Line extends Readonly<Record<string, unknown>> {
  readonly app: WatchedApp;
  readonly msg: string;
}

let ground: MonitoringServers;
let installation: Monitored;
let mailServer: Server;
const lines: Line[] = [];
const texts: string[] = [];

const canaries = {
  email: 'canary.person@example.com',
  title: 'canary title of a story',
  body: 'canary words of a comment',
  query: 'canary-in-a-query',
  header: 'canary-in-a-header',
  key: 'CANARY-KEY',
  password: 'canary-password',
};

const post = async (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${ground.person.token}`, 'content-type': 'application/json' },
      ...headers,
    },
    body: JSON.stringify(body),
  });
  await answer.text();
  return answer;
};
const api = (operation: string, params: object, headers: Record<string, string> = {}): Promise<Response> =>
  post(`${installation.apps['coordination-api'].url}/api/${operation.replaceAll('.', '/')}`, params, headers);

beforeAll(async () => {
  ground = await openGround();
  // Quotes the refused address, as mail servers do.
  mailServer = createServer((socket) => {
    socket.write('220 mail.example\r\n');
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      const said = data.toString();
      const refused = /^RCPT TO:<(.+)>/.exec(said)?.[1];
      socket.write(refused === undefined ? '250 ok\r\n' : `550 5.1.1 <${refused}>: no such person\r\n`);
    });
  });
  await new Promise<void>((resolve) => mailServer.listen(0, '127.0.0.1', resolve));
  const { port } = mailServer.address() as AddressInfo;
  installation = await startInstallation({
    ...{ databaseUrl: ground.databaseUrl, redisUrl: ground.redisUrl },
    environment: { SMTP_URL: `smtp://me:${canaries.password}@127.0.0.1:${port}` },
    onLine: (app, text) => {
      texts.push(text);
      if (text.startsWith('{')) lines.push({ ...(JSON.parse(text) as Line), app });
    },
  });
});
afterAll(async () => {
  await installation.stop();
  mailServer.close();
  await ground.stop();
});

const lineOf = async (app: WatchedApp, facts: object): Promise<Line> => {
  const isIt = (line: Line): boolean =>
    line.app === app && Object.entries(facts).every(([name, value]) => line[name] === value);
  await waitUntil(() => lines.some(isIt));
  const line = lines.find(isIt);
  if (line === undefined) throw new Error('there was such a line');
  return line;
};
const someUuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
const someMillis = expect.any(Number);

describe('a line says', () => {
  it('of an operation who called it in which organization, how it ended, and how long it took', async () => {
    await api('projects.create', { key: 'WEB', name: canaries.title }, { 'x-request-id': 'done-1' });
    expect(await lineOf('coordination-api', { requestId: 'done-1' })).toMatchObject({
      ...{ msg: 'operation', operation: 'projects.create', orgId: ground.orgId, memberId: someUuid },
      ...{ agentId: null, outcome: 'ok', durationMs: someMillis },
    });
    await api('projects.create', { key: 'WEB', name: canaries.title }, { 'x-request-id': 'refused-1' });
    expect(await lineOf('coordination-api', { requestId: 'refused-1' })).toMatchObject({
      ...{ msg: 'operation', operation: 'projects.create', orgId: ground.orgId, memberId: someUuid },
      ...{ outcome: 'conflict', reason: 'already_exists' },
    });
  });

  it('of what was refused before its operation was known, where it came in and why', async () => {
    const { url } = installation.apps['coordination-api'];
    const headers = { authorization: `Bearer ${canaries.header}`, 'x-request-id': 'stranger-1' };
    await post(`${url}/api/stories/get?${canaries.query}=1`, {}, headers);
    expect(await lineOf('coordination-api', { requestId: 'stranger-1' })).toMatchObject({
      ...{ msg: 'refused', method: 'POST', route: '/api/stories/get', outcome: 'unauthorized' },
      ...{ reason: expect.any(String), durationMs: someMillis },
    });
    await post(`${url}/${canaries.query}?${canaries.query}`, {}, { 'x-request-id': 'nowhere-1' });
    expect(await lineOf('coordination-api', { requestId: 'nowhere-1' })).toMatchObject({
      ...{ outcome: 'not_found', reason: 'no_such_path' },
    });
  });

  it('of a tool the same, under the request that the API knows, and who called it', async () => {
    const gateway = `${installation.apps['mcp-gateway'].url}/api/mcp`;
    const call = (id: string, method: string, params: object): Promise<Response> =>
      post(gateway, { jsonrpc: '2.0', id, method, params }, { 'x-request-id': id });
    await call('list-1', 'tools/list', {});
    await call('tool-1', 'tools/call', {
      name: 'stories_create',
      arguments: { projectId: 'WEB', title: canaries.title },
    });
    expect(await lineOf('mcp-gateway', { requestId: 'tool-1' })).toMatchObject({
      ...{ msg: 'mcp', method: 'tools/call', tool: 'stories_create', outcome: 'ok', durationMs: someMillis },
      ...{ orgId: ground.orgId, memberId: someUuid, agentId: null },
    });
    const atTheApi = await lineOf('coordination-api', { requestId: 'tool-1' });
    expect(atTheApi).toMatchObject({ operation: 'stories.create', outcome: 'ok' });
  });

  it('of a license what was answered', async () => {
    const { url } = installation.apps['license-service'];
    const asked = `${url}/api/activate/check?licenseKey=${canaries.key}&machineId=${canaries.query}`;
    await (await fetch(asked, { headers: { 'x-request-id': 'license-1' } })).text();
    expect(await lineOf('license-service', { requestId: 'license-1' })).toMatchObject({
      ...{ msg: 'license', operation: 'check', outcome: 'unknown_license_key', durationMs: someMillis },
    });
  });

  it('of a job of which organization it was and how it ended, and of a failed one why', async () => {
    await api('comments.create', { storyId: 'WEB-1', body: canaries.body });
    const done = await lineOf('delivery-worker', { msg: 'job', outcome: 'done', orgId: ground.orgId });
    expect(done).toMatchObject({ job: expect.any(String), rowId: someUuid, durationMs: someMillis });
    await api('members.invite', { email: canaries.email, role: 'member' });
    const failed = await lineOf('delivery-worker', { job: 'invitation.mail', outcome: 'failed' });
    expect(failed).toMatchObject({ orgId: ground.orgId, rowId: someUuid, err: expect.any(Object) });
    expect(JSON.stringify(failed['err'])).toContain('no such person');
  });
});

it('has nothing in it that anybody wrote, and no secret', () => {
  const all = texts.join('\n');
  expect(lines.length).toBeGreaterThan(8);
  for (const canary of [...Object.values(canaries), ground.person.token, ground.person.email])
    expect(all).not.toContain(canary);
});
