// The guarantees of HTTP and of the protocol, one by one, over real HTTP.
import { describe, expect, it } from '@jest/globals';
import { request as ask } from 'node:http';
import { useGateway } from './gateway.ts';

const gateway = useGateway();
const { world } = gateway;

const initialize = (protocolVersion: string) => ({
  protocolVersion,
  capabilities: {},
  clientInfo: { name: 'spec', version: '1' },
});
const tokenOf = async (): Promise<string> => (await world.org()).ana.me.token;
const headersFor = (token: string) => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
});

/** Sends a request with its own Host or Origin header, which fetch does not allow. */
const statusWith = (headers: Record<string, string>, body: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const request = ask(gateway.url(), { method: 'POST', headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    request.on('error', reject);
    request.end(body);
  });
const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

describe('the eras', () => {
  it.each(['2025-11-25', '2025-06-18', '2025-03-26'])(
    'agrees on %s when a client asks for it',
    async (version) => {
      const token = await tokenOf();
      const { status, body } = await gateway.rpc(token, 'initialize', initialize(version));
      expect([status, body.result?.['protocolVersion']]).toEqual([200, version]);
      const listed = await gateway.rpc(
        token,
        'tools/list',
        {},
        { headers: { 'mcp-protocol-version': version } },
      );
      expect([listed.status, Array.isArray(listed.body.result?.['tools'])]).toEqual([200, true]);
    },
  );

  it('offers its newest to a client that asks for one it does not speak', async () => {
    const { body } = await gateway.rpc(await tokenOf(), 'initialize', initialize('2024-10-07'));
    expect(body.result?.['protocolVersion']).toBe('2025-11-25');
  });

  it('answers the stateless revision with what it wants in each result', async () => {
    const token = await tokenOf();
    const discovered = await gateway.modern(token, 'server/discover');
    expect(discovered.body.result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      resultType: 'complete',
      ttlMs: expect.any(Number),
      cacheScope: 'private',
      instructions: expect.stringContaining('Muster'),
    });
    const { body } = await gateway.modern(token, 'tools/list');
    expect(body.result).toMatchObject({ resultType: 'complete', ttlMs: 60_000, cacheScope: 'private' });
    const called = await gateway.modern(token, 'tools/call', { name: 'session_identity', arguments: {} });
    expect(called.body.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { member: { name: 'Ana' } },
    });
  });

  it('lists the same tools in both, from one text', async () => {
    const token = await tokenOf();
    const [older, modern] = [
      await gateway.rpc(token, 'tools/list'),
      await gateway.modern(token, 'tools/list'),
    ];
    expect(modern.body.result?.['tools']).toEqual(older.body.result?.['tools']);
  });

  it('refuses a version that it does not speak, and names those that it does', async () => {
    const token = await tokenOf();
    const older = await gateway.rpc(token, 'ping', {}, { headers: { 'mcp-protocol-version': '2019-01-01' } });
    expect([older.status, older.body.error?.message]).toEqual([400, expect.stringContaining('2025-11-25')]);
    const newer = await gateway.modern(
      token,
      'tools/list',
      {},
      {
        headers: { 'mcp-protocol-version': '2031-01-01' },
        meta: { 'io.modelcontextprotocol/protocolVersion': '2031-01-01' },
      },
    );
    expect([newer.status, newer.body.error?.data]).toEqual([
      400,
      { supported: ['2026-07-28'], requested: '2031-01-01' },
    ]);
  });

  it.each([
    ['mcp-method', 'prompts/list'],
    ['mcp-name', 'stories_delete'],
    ['mcp-name', '=?base64?!!!?='],
  ])('refuses a stateless request whose %s is %s, which its body does not say', async (header, value) => {
    const { status, body } = await gateway.modern(
      await tokenOf(),
      'tools/call',
      { name: 'session_identity', arguments: {} },
      { headers: { [header]: value } },
    );
    expect([status, body.error?.code]).toEqual([400, -32020]);
  });

  it('knows no method that only one of the eras has in the other', async () => {
    const token = await tokenOf();
    const older = await gateway.rpc(token, 'server/discover');
    expect([older.status, older.body.error?.code]).toEqual([200, -32601]);
    const modern = await gateway.modern(token, 'ping');
    expect([modern.status, modern.body.error?.code]).toEqual([404, -32601]);
    const listening = await gateway.rpc(token, 'subscriptions/listen', { notifications: {} });
    expect([listening.status, listening.body.error?.code]).toEqual([200, -32601]);
    const subscribing = await gateway.modern(token, 'resources/subscribe', { uri: 'muster://stories/WEB-1' });
    expect([subscribing.status, subscribing.body.error?.code]).toEqual([404, -32601]);
  });

  it('says the id of each request again, whoever else asks at once', async () => {
    const token = await tokenOf();
    const ids = Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? index : `text-${index}`));
    const answers = await Promise.all(ids.map((id) => gateway.rpc(token, 'ping', {}, { id })));
    expect(answers.map(({ body }) => body.id)).toEqual(ids);
  });
});

describe('HTTP', () => {
  it.each(['GET', 'DELETE', 'PUT'])('answers %s with 405 and what it allows', async (method) => {
    const { status, headers } = await gateway.send({ method, headers: headersFor(await tokenOf()) });
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
  });

  it.each([undefined, 'application/json', 'text/event-stream', '*/*'])(
    'answers JSON to Accept: %s',
    async (accept) => {
      const { status, headers } = await gateway.rpc(
        await tokenOf(),
        'ping',
        {},
        {
          headers: accept === undefined ? {} : { accept },
        },
      );
      expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
      expect(headers.get('mcp-session-id')).toBeNull();
    },
  );

  it('takes no batch', async () => {
    const { status, body } = await gateway.send({
      headers: headersFor(await tokenOf()),
      body: JSON.stringify([{ jsonrpc: '2.0', id: 1, method: 'ping' }]),
    });
    expect([status, body.error?.code]).toEqual([400, -32600]);
  });

  it('takes notifications and does nothing with them: a cancellation reaches no other client', async () => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1 },
    });
    const answer = await gateway.send({ headers: headersFor(await tokenOf()), body });
    expect([answer.status, answer.text]).toEqual([202, '']);
  });

  it.each([
    ['{', 400, -32700],
    ['{"jsonrpc":"2.0"}', 400, -32600],
    ['"text"', 400, -32600],
    ['', 400, -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":{"text":"\\ud800"}}', 400, -32700],
  ])('refuses the body %j', async (body, status, code) => {
    const answer = await gateway.send({ headers: headersFor(await tokenOf()), body });
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
  });

  it('refuses other content types with 415', async () => {
    const answer = await gateway.send({
      headers: { authorization: `Bearer ${await tokenOf()}`, 'content-type': 'text/plain' },
      body: ping,
    });
    expect(answer.status).toBe(415);
  });

  it('refuses a compressed body with 415', async () => {
    const headers = { ...headersFor(await tokenOf()), 'content-encoding': 'gzip' };
    expect((await gateway.send({ headers, body: ping })).status).toBe(415);
  });

  it('answers strangers’ pages, and strangers’ names for this machine, with 403', async () => {
    const headers = headersFor(await tokenOf());
    expect(await statusWith({ ...headers, origin: 'https://evil.example' }, ping)).toBe(403);
    expect(await statusWith({ ...headers, origin: 'null' }, ping)).toBe(403);
    expect(await statusWith({ ...headers, host: 'evil.example' }, ping)).toBe(403);
    expect(await statusWith({ ...headers, origin: 'http://localhost:6274' }, ping)).toBe(200);
    expect(await statusWith({ ...headers, host: 'localhost:1' }, ping)).toBe(200);
  });

  it('keeps the id of a request, on its way to the API too', async () => {
    const { ana } = await world.org();
    const options = { headers: { 'x-request-id': 'seen-again' } };
    const call = { name: 'projects_create', arguments: { key: 'WEB', name: 'Web' } };
    const { headers } = await gateway.rpc(ana.me.token, 'tools/call', call, options);
    expect(headers.get('x-request-id')).toBe('seen-again');
    const { items } = await gateway.apiClient(ana.me.token).audit.list({ operation: 'projects.create' });
    expect(items.map(({ requestId }) => requestId)).toEqual(['seen-again']);
  });
});

describe('the token', () => {
  const unknown = 'must_test_00000000000000000000000000000000000000';
  const methods = ['initialize', 'tools/list', 'tools/call', 'prompts/list', 'resources/read'] as const;
  const params = {
    ...{ initialize: initialize('2025-11-25'), 'tools/list': {}, 'prompts/list': {} },
    'tools/call': { name: 'session_identity', arguments: {} },
    'resources/read': { uri: 'muster://stories/WEB-1' },
  };

  it.each(methods)('is refused in %s as the API refuses it: 401, told in words', async (method) => {
    const { status, headers, body } = await gateway.rpc(unknown, method, params[method]);
    expect([status, headers.get('www-authenticate'), body.code, body.message]).toEqual([
      401,
      expect.stringMatching(
        /^Bearer realm="Muster", error="invalid_token", error_description="[^"]*revoked[^"]*"$/,
      ),
      'unauthorized',
      expect.stringContaining('token'),
    ]);
  });

  it('is refused in a macro too', async () => {
    const call = { name: 'start_work', arguments: { storyId: 'WEB-1' } };
    expect((await gateway.rpc(unknown, 'tools/call', call)).status).toBe(401);
  });

  it.each([
    ['storys_list', {}, ''],
    ['epics_list', {}, '?toolsets=stories'],
    ['search_operations', { query: 'stories' }, '?mode=core'],
    ['describe_operation', { operation: 'stories.list' }, '?mode=core'],
  ])('is refused in a call of %s, for which the API need not be asked', async (name, args, query) => {
    const call = { name, arguments: args };
    expect((await gateway.rpc(unknown, 'tools/call', call, { query })).status).toBe(401);
  });

  it('must be there, once, and never in the URL', async () => {
    const none = await gateway.send({ headers: { 'content-type': 'application/json' }, body: ping });
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="Muster"']);
    const inUrl = await gateway.rpc(await tokenOf(), 'ping', {}, { query: '?token=must_secret' });
    expect([inUrl.status, inUrl.text.includes('must_secret')]).toEqual([400, false]);
  });

  it.each(['GET', 'DELETE'])('is refused in a %s as in a POST, where clients look next', async (method) => {
    const { status, headers } = await gateway.send({ method, headers: headersFor(unknown) });
    expect([status, headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('invalid_token'),
    ]);
  });

  it.each([
    ['initialize', initialize('2025-11-25')],
    ['ping', {}],
    ['tools/list', {}],
    ['resources/templates/list', {}],
    ['tools/call', { name: 'search_operations', arguments: { query: 'stories' } }],
    ['tools/call', { name: 'start_work', arguments: {} }],
    ['no/such', {}],
  ])('that was revoked is refused from then on in %s', async (method, asked) => {
    const { ana } = await world.org();
    const ask = () => gateway.rpc(ana.me.token, method, asked, { query: '?mode=core' });
    expect((await ask()).status).toBe(200);
    await world.rows(
      'update tokens set revoked_at = now() where hash = sha256($1::bytea)',
      Buffer.from(ana.me.token),
    );
    expect((await ask()).status).toBe(401);
  });

  it('that was revoked calls nothing from then on', async () => {
    const { ana } = await world.org();
    const call = { name: 'session_identity', arguments: {} };
    expect((await gateway.rpc(ana.me.token, 'tools/call', call)).status).toBe(200);
    await world.rows(
      'update tokens set revoked_at = now() where hash = sha256($1::bytea)',
      Buffer.from(ana.me.token),
    );
    expect((await gateway.rpc(ana.me.token, 'tools/call', call)).status).toBe(401);
  });
});

describe('errors of calls', () => {
  it('name near tools for one that does not exist', async () => {
    const { status, body } = await gateway.rpc(await tokenOf(), 'tools/call', {
      name: 'storys_list',
      arguments: {},
    });
    expect([status, body.error?.code, body.error?.data]).toEqual([
      200,
      -32602,
      { didYouMean: expect.arrayContaining(['stories_list']) },
    ]);
  });

  it.each([
    ['tools/call', undefined],
    ['tools/call', { name: 'projects_list', arguments: [] }],
    ['tools/list', { cursor: 5 }],
    ['prompts/get', undefined],
    ['prompts/get', { name: 'org.review', arguments: { name: 5 } }],
    ['resources/read', {}],
    ['completion/complete', undefined],
    ['initialize', {}],
  ])('are -32602 where %s does not take the params %j', async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'mine', method, params });
    const answer = await gateway.send({ headers: headersFor(await tokenOf()), body });
    expect([answer.status, answer.body.id, answer.body.error?.code]).toEqual([200, 'mine', -32602]);
  });

  it('are results that text and structure tell alike, with what to do', async () => {
    const token = await tokenOf();
    for (const args of [{ projectId: 'NONE' }, { projectId: 7 }, { projectId: 'WEB', tpyo: 1 }]) {
      const { isError, content, structuredContent } = await gateway.tool(token, 'stories_list', args);
      expect(isError).toBe(true);
      expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent);
      expect(structuredContent.error).toMatchObject({
        code: expect.any(String),
        status: expect.any(Number),
        requestId: expect.any(String),
        hint: expect.stringMatching(/\w{3}/),
      });
    }
  });

  it('carry the API’s own words: reason, issues, and the hint names the field', async () => {
    const { structuredContent } = await gateway.tool(await tokenOf(), 'projects_create', { key: 'WEB' });
    expect(structuredContent.error).toMatchObject({
      code: 'bad_request',
      details: { reason: 'invalid_params', issues: [{ path: 'name' }] },
      hint: expect.stringContaining('name'),
    });
  });

  it('are the same when the API is away, and a call goes through when it is back in time', async () => {
    const { ana } = await world.org();
    // Cache the token's identity. For an unknown token, the gateway would answer with HTTP 503.
    await gateway.tool(ana.me.token, 'session_identity');
    const answer = await gateway.whileApiIsAway(() =>
      gateway.tool(ana.me.token, 'projects_create', { key: 'WEB', name: 'Web' }),
    );
    const { items } = await gateway.apiClient(ana.me.token).projects.list();
    if (answer.isError === true) {
      // The outage lasted longer than the gateway retries.
      expect(answer.structuredContent.error).toMatchObject({ code: 'unavailable', status: 503 });
      expect(items).toEqual([]);
    } else expect(items.map(({ key }) => key)).toEqual(['WEB']);
  });
});
