import { ConflictError, errorBodyIn, MusterError, NotFoundError, httpTransport } from '@muster/client-core';
import { describe, expect, it } from '@jest/globals';
import { operations } from '@muster/registry';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { createClient } from './client.ts';

describe('createClient', () => {
  it('has a method for every operation, which calls the transport with it', async () => {
    const called: [string, string][] = [];
    const client = createClient((operation, params) => {
      called.push([operation.name, operation.effect]);
      return Promise.resolve(params);
    });
    for (const operation of operations.values()) {
      const method = operation.name
        .split('.')
        .reduce<unknown>((node, word) => (node as Record<string, unknown>)[word], client);
      expect(await (method as (params: unknown) => Promise<unknown>)(operation.example)).toBe(
        operation.example,
      );
      const hasPages = operation.effect === 'read' && 'nextCursor' in operation.result.shape;
      expect([operation.name, 'all' in (method as object)]).toEqual([operation.name, hasPages]);
    }
    expect(called).toEqual([...operations.values()].map(({ name, effect }) => [name, effect]));
  });

  it('sends no parameters as an empty object', async () => {
    const client = createClient((_operation, params) => Promise.resolve(params));
    expect(await client.session.identity()).toEqual({});
  });
});

describe('httpTransport', () => {
  it('posts to the path of the operation with token and key, and throws the error object', async () => {
    const seen: unknown[] = [];
    const error = {
      code: 'not_found',
      message: 'No such record.',
      status: 404,
      requestId: 'r1',
      details: { reason: 'gone', retryable: false },
    };
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { authorization, 'idempotency-key': key } = request.headers;
        seen.push([request.method, request.url, authorization, key, JSON.parse(body)]);
        const fails = request.url?.endsWith('/get') === true;
        response
          .writeHead(fails ? 404 : 200, { 'content-type': 'application/json' })
          .end(JSON.stringify(fails ? error : { deleted: true }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const client = createClient(httpTransport({ baseUrl: `http://127.0.0.1:${port}`, token: 'secret' }));
    expect(await client.stories.delete({ storyId: 'WEB-1' }, { idempotencyKey: 'k1' })).toEqual({
      deleted: true,
    });
    const refused = await client.stories.get({ storyId: 'WEB-1' }).catch((fault: unknown) => fault);
    expect(refused).toBeInstanceOf(MusterError);
    expect(refused).toBeInstanceOf(NotFoundError);
    expect(refused).not.toBeInstanceOf(ConflictError);
    expect(refused).toMatchObject({ status: 404, code: 'not_found', reason: 'gone', body: error });
    expect(seen).toEqual([
      ['POST', '/api/stories/delete', 'Bearer secret', 'k1', { storyId: 'WEB-1' }],
      ['POST', '/api/stories/get', 'Bearer secret', undefined, { storyId: 'WEB-1' }],
    ]);
    server.close();
  });
});

describe('errorBodyIn', () => {
  const error = { code: 'conflict', message: 'No.', status: 409, requestId: 'r1' };

  it('finds the error object of the API, with details or without', () => {
    for (const body of [error, { ...error, details: { reason: 'reserved' } }])
      expect(errorBodyIn(body)).toBe(body);
  });

  it.each([
    ['text', 'Bad gateway'],
    ['nothing', null],
    ['a list', [error]],
    ['a code that there is not', { ...error, code: 'toString' }],
    ['no message', { ...error, message: undefined }],
    ['a status in words', { ...error, status: '409' }],
    ['no id of the request', { ...error, requestId: null }],
    ['details that are none', { ...error, details: 'many' }],
  ])('takes %s for what something on the way said', (_what, body) => {
    expect(errorBodyIn(body)).toBeUndefined();
  });
});
