// The usual route: `{base_url}/api/mcp` on coordination-api, which forwards each request to the gateway.
import { type IncomingMessage, request } from 'node:http';
import { expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { useGateway } from './gateway.ts';

const gateway = useGateway();

const sendForwarded = (init: RequestInit, query = ''): Promise<Response> =>
  fetch(`${gateway.apiUrl()}/api/mcp${query}`, { method: 'POST', ...init });
const ping = (token: string): RequestInit => ({
  headers: {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'x-request-id': 'passed-on',
  },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
});

it('is used by a client like the gateway itself', async () => {
  const { ana } = await gateway.world.org();
  const client = new Client({ name: 'spec', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${ana.me.token}` } };
  const url = new URL(`${gateway.apiUrl()}/api/mcp?mode=core`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  const { tools } = await client.listTools();
  expect(tools.length).toBeLessThanOrEqual(20);
  const answer = await client.callTool({ name: 'session_identity', arguments: {} });
  expect(answer.structuredContent).toMatchObject({ member: { name: 'Ana' } });
  await client.close();
});

it('passes on the request id, and what the gateway says of the request, in every way', async () => {
  const { ana } = await gateway.world.org();
  const answered = await sendForwarded(ping(ana.me.token));
  expect([answered.status, answered.headers.get('x-request-id')]).toEqual([200, 'passed-on']);
  const got = await sendForwarded({ method: 'GET', headers: { authorization: `Bearer ${ana.me.token}` } });
  expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
  const core = await sendForwarded(ping(ana.me.token), '?mode=core');
  expect(core.status).toBe(200);
  const unknown = await sendForwarded(ping('nonsense'), '?mode=core');
  expect([unknown.status, unknown.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining('error="invalid_token"'),
  ]);
  const none = await sendForwarded({ headers: { 'content-type': 'application/json' }, body: '{}' });
  expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="Muster"']);
  const { headers } = ping(ana.me.token);
  const broken = await sendForwarded({ headers: headers ?? {}, body: '{' });
  expect([broken.status, await broken.json()]).toEqual([400, expect.objectContaining({ jsonrpc: '2.0' })]);
  for (const path of ['/', '/core', '/core/', '/readonly', '/core/readonly'])
    expect((await sendForwarded(ping(ana.me.token), path)).status).toBe(200);
  const typo = await sendForwarded(ping(ana.me.token), '?mod=core');
  expect(typo.status).toBe(400);
});

it('answers a notification with 202, without a body or a content type', async () => {
  const { ana } = await gateway.world.org();
  const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const answer = await sendForwarded({ ...ping(ana.me.token), body });
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([202, null, '']);
});

it('takes no place of the API while it waits for the gateway, which calls the API in turn', async () => {
  const { ana } = await gateway.world.org();
  const call = JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'session_identity', arguments: {} },
  });
  // The number of requests equals the API's limit of concurrent calls. If forwarded requests counted, the gateway's
  // own calls would be refused.
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => sendForwarded({ ...ping(ana.me.token), body: call })),
  );
  const results = await Promise.all(
    answers.map(async (answer) => (await answer.json()) as { result?: object }),
  );
  expect(results.filter(({ result }) => result !== undefined && !('isError' in result))).toHaveLength(60);
});

it.each(['POST', 'GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'])(
  'asks the gateway nothing for a %s without a good token',
  async (method) => {
    await gateway.whileGatewayIsAway(async () => {
      for (const headers of [{}, { authorization: 'Bearer nonsense' }])
        expect((await sendForwarded({ method, headers })).status).toBe(401);
    });
  },
);

it('says 503 while the gateway is away', async () => {
  const { ana } = await gateway.world.org();
  await gateway.whileGatewayIsAway(async () => {
    const answer = await sendForwarded(ping(ana.me.token));
    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
      503,
      '1',
      expect.objectContaining({
        code: 'unavailable',
        details: expect.objectContaining({ reason: 'gateway_away' }),
      }),
    ]);
  });
  expect((await sendForwarded(ping(ana.me.token))).status).toBe(200);
});

it('tells the gateway when a client left, so that a write which comes again happens once', async () => {
  const { world } = gateway;
  const { ana, orgId } = await world.org();
  const api = gateway.apiClient(ana.me.token);
  await api.projects.create({ key: 'WEB', name: 'Web' });
  const { story } = await api.stories.create({ projectId: 'WEB', title: 'One' });
  const comment = {
    ...ping(ana.me.token),
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'comments_create', arguments: { storyId: 'WEB-1', body: 'Looks good' } },
    }),
  };
  await gateway.disconnectDuring(story.id, (signal) => sendForwarded({ ...comment, signal }));
  expect((await sendForwarded(comment)).status).toBe(200);
  const rows = await world.rows('select id from comments where org_id = $1', orgId);
  expect(rows).toHaveLength(1);
});

it.each(['attacker.example', 'localhost.attacker.example', '127.0.0.1.nip.io'])(
  'refuses the host %j, which a page of a stranger may have pointed at this machine',
  async (host) => {
    const { ana } = await gateway.world.org();
    const ask = (headers: Record<string, string>) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const { headers: usual, body } = ping(ana.me.token);
        const sent = { ...(usual as Record<string, string>), ...headers };
        request(`${gateway.apiUrl()}/api/mcp`, { method: 'POST', headers: sent }, (answer) => {
          answer.resume();
          resolve(answer);
        })
          .on('error', reject)
          .end(body);
      });
    expect((await ask({ host })).statusCode).toBe(403);
    expect((await ask({ host: `localhost:${new URL(gateway.apiUrl()).port}` })).statusCode).toBe(200);
  },
);
