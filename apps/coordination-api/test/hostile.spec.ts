/**
 * Malformed input that HTTP stacks accept, on an operation's own path and on /api/query. It gets a clear JSON
 * error, no data loss, and never a 5xx.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { operations } from '@muster/registry';
import { valuesMissedByValidation } from '@muster/runtime';
import { checkEachCase } from '@muster/testing';
import { type ExampleOrg, createExampleOrg, createExampleOrgProvider } from '@muster/examples';
import { type RawAnswer, useApi } from './api.ts';
import { expectWellFormedAnswer, expectWellFormedAnswers } from './decent.ts';

const api = useApi();
const { world } = api;

/** One organization for all tests, because refused requests change nothing. */
let org: ExampleOrg;
beforeAll(async () => {
  org = await createExampleOrg(world);
});

/**
 * Bodies that are rejected before their parameters are read. `inner` is inserted in place of the parameters.
 */
const bodies: readonly (readonly [string, string | Uint8Array, number])[] = [
  ['no JSON', '{"title": ', 400],
  ['an array', '[]', 400],
  ['a text', '"hello"', 400],
  ['null', 'null', 400],
  ['NUL in a text', '{"storyId": "WEB-1", "title": "a\\u0000b"}', 400],
  ['NUL in a key', '{"a\\u0000b": 1}', 400],
  ['a lone surrogate', '{"storyId": "WEB-1", "title": "a\\ud800b"}', 400],
  ['a lone surrogate the other way round', '{"storyId": "WEB-1", "title": "\\udc00\\ud800"}', 400],
  [
    'bytes that are no UTF-8',
    new Uint8Array([...Buffer.from('{"storyId": "WEB-1", "title": "'), 0xff, 0xfe, ...Buffer.from('"}')]),
    400,
  ],
  [
    'an overlong encoding',
    new Uint8Array([...Buffer.from('{"storyId": "WEB-1", "title": "'), 0xc0, 0x80, ...Buffer.from('"}')]),
    400,
  ],
  ['33 levels', `{"a":${'['.repeat(32)}${']'.repeat(32)}}`, 400],
  ['100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000), 400],
  ['__proto__', '{"storyId": "WEB-1", "__proto__": {"admin": true}}', 400],
  ['constructor', '{"storyId": "WEB-1", "constructor": {"prototype": {}}}', 400],
  ['a body over the limit', JSON.stringify({ storyId: 'WEB-1', title: 'x'.repeat(300 * 1024) }), 413],
];

/** Invalid values for fields of stories.update and stories.list. */
const values: readonly (readonly [string, string, Record<string, unknown> | string, number])[] = [
  ['1e400 as a number', 'stories.update', '{"storyId": "WEB-1", "estimate": 1e400}', 400],
  [
    '2^53 + 1 as a version',
    'stories.update',
    '{"storyId": "WEB-1", "expectedVersion": 9007199254740993}',
    400,
  ],
  ['1.5 as a version', 'stories.update', { storyId: 'WEB-1', expectedVersion: 1.5 }, 400],
  ['"5" as a number', 'stories.list', { projectId: 'WEB', limit: '5' }, 400],
  ['an array as an id', 'stories.get', { storyId: ['WEB-1'] }, 400],
  ['an id in capitals', 'boardColumns.update', { columnId: '01936D5C-0000-7000-8000-000000000001' }, 400],
  ['an id in braces', 'boardColumns.update', { columnId: '{01936d5c-0000-7000-8000-000000000001}' }, 400],
  ['an empty title', 'stories.update', { storyId: 'WEB-1', title: '' }, 400],
  ['a blank title', 'stories.update', { storyId: 'WEB-1', title: '  \t ' }, 400],
  ['a title of 301 characters', 'stories.update', { storyId: 'WEB-1', title: 'é'.repeat(301) }, 400],
  ['a title of 300 astral characters', 'stories.update', { storyId: 'WEB-1', title: '😀'.repeat(300) }, 200],
  [
    '21 labels',
    'stories.update',
    { storyId: 'WEB-1', labels: Array.from({ length: 21 }, (_, n) => `l${n}`) },
    400,
  ],
  ['tomorrow as a time', 'stories.list', { projectId: 'WEB', updatedSince: 'tomorrow' }, 400],
  ['infinity as a time', 'activity.list', { since: 'infinity' }, 400],
  ['30 February', 'activity.list', { since: '2026-02-30T00:00:00Z' }, 400],
  ['the year 2201', 'activity.list', { since: '2201-01-01T00:00:00Z' }, 400],
  ['a date without a time', 'activity.list', { since: '2026-02-03' }, 400],
  ['a limit of 0', 'stories.list', { projectId: 'WEB', limit: 0 }, 400],
  ['a limit of 201', 'stories.list', { projectId: 'WEB', limit: 201 }, 400],
  ['a made-up cursor', 'stories.list', { projectId: 'WEB', cursor: 'bm9wZQ' }, 400],
  [
    'a cursor of other types',
    'stories.list',
    { projectId: 'WEB', cursor: Buffer.from('[{"a":1},"x"]').toString('base64url') },
    400,
  ],
  [
    '501 columns',
    'boardColumns.reorder',
    {
      projectId: 'WEB',
      columnIds: Array.from({ length: 501 }, () => '01936d5c-0000-7000-8000-000000000001'),
    },
    400,
  ],
  ['SQL in a search', 'stories.list', { projectId: 'WEB', query: `'; drop table stories; --` }, 200],
  ['wildcards in a search', 'stories.list', { projectId: 'WEB', query: '%_\\' }, 200],
  ['a story key with a huge number', 'stories.get', { storyId: 'WEB-999999999' }, 404],
  ['a story key with eleven digits', 'stories.get', { storyId: 'WEB-99999999999' }, 404],
  ['a story key with the number 0', 'stories.get', { storyId: 'WEB-0' }, 404],
  [
    'a story key with a zero before its number',
    'stories.updateStatus',
    { storyId: 'WEB-01', status: 'ready' },
    404,
  ],
  [
    'a story key that cannot be, as what blocks another',
    'stories.update',
    { storyId: 'WEB-1', blockedBy: ['WEB-9999999999'] },
    404,
  ],
  [
    'a story key that cannot be, as a target',
    'assignments.set',
    { targetType: 'story', targetId: 'WEB-0', memberId: null },
    404,
  ],
];

describe.each(['path', 'dispatcher'] as const)('through the %s', (way) => {
  const send = (
    token: string,
    operation: string,
    params: string | Uint8Array | object,
  ): Promise<RawAnswer> => {
    if (way === 'path') return api.request(`/api/${operation.replaceAll('.', '/')}`, { token, body: params });
    if (typeof params === 'string')
      return api.request('/api/query', { token, body: `{"operation": "${operation}", "params": ${params}}` });
    if (!(params instanceof Uint8Array))
      return api.request('/api/query', { token, body: { operation, params } });
    const body = Buffer.concat([
      Buffer.from(`{"operation": "${operation}", "params": `),
      params,
      Buffer.from('}'),
    ]);
    return api.request('/api/query', { token, body: new Uint8Array(body) });
  };

  it.each(bodies)('refuses %s', async (title, body, status) => {
    const answer = await send(org.ana.me.token, 'stories.update', body);
    // The body of /api/query has one additional level of nesting.
    expect([title, answer.status]).toEqual([title, status]);
    expectWellFormedAnswer(answer);
  });

  it.each(values)('answers %s (%s)', async (_title, operation, params, status) => {
    const answer = await send(org.ana.me.token, operation, params);
    expect([answer.status, answer.text.slice(0, 300)]).toEqual([status, expect.any(String)]);
    expectWellFormedAnswer(answer);
    if (status === 400) expect(answer.body.details?.reason).toEqual(expect.any(String));
  });

  it.each([
    'text/plain',
    'application/json; charset=utf-16',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/html',
  ])('refuses %s with 415', async (type) => {
    const path = way === 'path' ? '/api/stories/get' : '/api/query';
    const answer = await api.request(path, {
      token: org.ana.me.token,
      body: '{}',
      headers: { 'content-type': type },
    });
    expect(answer.status).toBe(415);
    expectWellFormedAnswer(answer);
  });

  it('refuses a compressed body with 415', async () => {
    const answer = await api.request(way === 'path' ? '/api/stories/get' : '/api/query', {
      token: org.ana.me.token,
      body: '{}',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });
    expect([answer.status, answer.body.message]).toEqual([415, expect.stringContaining('Content-Encoding')]);
  });
});

describe('the dispatcher', () => {
  it.each([
    ['no operation', {}, 400],
    ['an operation that is no text', { operation: 7 }, 400],
    ['an empty name', { operation: '' }, 400],
    ['params that are an array', { operation: 'session.identity', params: [] }, 400],
    ['params that are null', { operation: 'session.identity', params: null }, 400],
    ['a field beside operation and params', { operation: 'session.identity', param: {} }, 400],
    ['a name out of Object', { operation: 'constructor' }, 404],
    ['a name with __proto__', { operation: '__proto__.toString' }, 404],
  ])('answers %s', async (_title, body, status) => {
    const answer = await api.request('/api/query', { token: org.ana.me.token, body });
    expect(answer.status).toBe(status);
    expectWellFormedAnswer(answer);
  });

  it('says what a mistyped name may have meant', async () => {
    const answer = await api.request('/api/query', {
      token: org.ana.me.token,
      body: { operation: 'storys.get' },
    });
    expect([answer.status, answer.body.code]).toEqual([404, 'unknown_operation']);
    expect(answer.body.details?.['didYouMean']).toContain('stories.get');
  });

  it('looks at the token before the body', async () => {
    const answer = await api.request('/api/query', { body: '{"operation": ' });
    expect(answer.status).toBe(401);
  });
});

describe('HTTP itself', () => {
  /** Sends raw bytes and returns the whole response. */
  async function raw(text: string): Promise<string> {
    const { hostname, port } = new URL(api.url());
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
    socket.write(text);
    socket.setTimeout(30_000, () => socket.destroy());
    await once(socket, 'close').catch(() => undefined);
    return answer;
  }

  /** Returns the request id in the response's header. */
  const requestIdIn = (answer: string): string => /^x-request-id: (\S+)\r$/im.exec(answer)?.[1] ?? 'none';

  it('refuses two Authorization headers', async () => {
    const answer = await raw(
      `POST /api/session/identity HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${org.ana.me.token}\r\nAuthorization: Bearer ${org.ana.me.token}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 400/);
    expect(answer).toContain('repeated_authorization');
  });

  it.each([
    [
      'Content-Length beside Transfer-Encoding',
      'POST /api/query HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n',
    ],
    ['bare line feeds', 'POST /api/query HTTP/1.1\nHost: x\n\n'],
    ['20 KB of headers', `GET /livez HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['no HTTP at all', 'hello\r\n\r\n'],
  ])('refuses %s with a JSON 400 and closes', async (_title, text) => {
    const answer = await raw(text);
    expect(answer).toMatch(/^HTTP\/1.1 400/);
    expect(answer).toContain('"code":"bad_request"');
    expect(answer).toContain(`"requestId":"${requestIdIn(answer)}"`);
  });

  it('counts the bytes of a body that comes in chunks and does not say how many they are', async () => {
    const { ana } = org;
    const body = JSON.stringify({ operation: 'stories.get', params: { storyId: 'x'.repeat(300 * 1024) } });
    const answer = await raw(
      `POST /api/query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ana.me.token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 413/);
    expect(answer).toContain('"code":"payload_too_large"');
  });

  it.each(['/api/nope', '/nope', '/api/stories/../../etc/passwd', '/api/%ff', '/api/%2e%2e/x', '/%'])(
    'answers %s with a JSON error',
    async (path) => {
      const { hostname, port } = new URL(api.url());
      const text = await raw(
        `POST ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${org.ana.me.token}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
      expect(text).toMatch(/^HTTP\/1.1 (400|404)/);
      expect(text).toContain(`"requestId":"${requestIdIn(text)}"`);
    },
  );

  it('keeps a decent request id of the caller, and none of another sort: no token either, which would be logged', async () => {
    const kept = await api.request('/livez', { method: 'GET', headers: { 'x-request-id': 'my-id.1_2' } });
    expect(kept.headers.get('x-request-id')).toBe('my-id.1_2');
    for (const bad of ['a b', 'x'.repeat(129), '<script>', org.ana.me.token]) {
      const fresh = await api.request('/livez', { method: 'GET', headers: { 'x-request-id': bad } });
      expect(fresh.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
      expect(fresh.headers.get('x-request-id')).not.toBe(bad);
    }
  });

  it.each(['', 'x'.repeat(256), 'caf\u00e9'])('refuses the Idempotency-Key %j', async (key) => {
    const answer = await api.call(
      org.ana.me.token,
      'stories.update',
      { storyId: 'WEB-1' },
      { 'idempotency-key': key },
    );
    expect(answer.status).toBe(400);
  });
});

describe('every operation with anything in any of its fields', () => {
  it('never fails', async () => {
    const orgFor = createExampleOrgProvider(world);
    const holes = valuesMissedByValidation.count;
    await checkEachCase([...operations], async (operation) =>
      expectWellFormedAnswers(api, await orgFor(operation), operation, { seed: 1, numRuns: 5 }),
    );
    expect(valuesMissedByValidation.count).toBe(holes);
  }, 300_000);
});
