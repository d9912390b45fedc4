/** The API's own endpoints: description, health and metrics. */
import { describe, expect, it } from '@jest/globals';
import { productVersion } from '@muster/contract';
import { operations } from '@muster/registry';
import { useApi } from './api.ts';

const api = useApi();

interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly version: string; readonly 'x-product-version': string };
  readonly paths: Record<
    string,
    {
      readonly post: {
        readonly operationId: string;
        readonly responses: Record<string, unknown>;
        readonly requestBody: {
          readonly content: { readonly 'application/json': { readonly example: unknown } };
        };
      };
    }
  >;
}

describe('/openapi.json', () => {
  const read = async (): Promise<OpenApi> =>
    (await api.request('/openapi.json', { method: 'GET' })).body as unknown as OpenApi;

  it('has every operation once, with its own id, its example and every documented error status', async () => {
    const document = await read();
    expect([document.openapi, document.info.version]).toEqual(['3.1.0', '1.0.0']);
    expect(document.info['x-product-version']).toBe(productVersion);
    const posts = Object.values(document.paths).map((item) => item.post);
    const ids = posts.map((post) => post.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const operation of operations.values()) {
      const post = document.paths[`/api/${operation.name.replaceAll('.', '/')}`]?.post;
      expect(post?.requestBody.content['application/json'].example).toEqual(operation.example);
      expect(Object.keys(post?.responses ?? {})).toEqual(
        expect.arrayContaining([
          ...['200', '400', '401', '403', '404', '405', '409', '413', '415', '422', '429', '500', '503'],
        ]),
      );
    }
  });
});

describe('the version of the interface', () => {
  it('is 1.0.0 wherever it is stated', async () => {
    const get = (path: string) =>
      api.request(path, { method: 'GET', headers: { accept: 'application/json' } });
    expect((await get('/.well-known/agents.json')).body).toMatchObject({
      ...{ version: '1.0.0', productVersion },
    });
    expect((await get('/')).body).toMatchObject({ version: '1.0.0' });
    expect((await get('/reference')).body).toMatchObject({ version: '1.0.0' });
    expect(await (await fetch(new URL('/llms.txt', api.url()))).text()).toContain('API version 1.0.0.');
  });
});

describe('a path of an operation', () => {
  it('answers every method but POST with 405, an error in JSON and the method that it takes', async () => {
    const asked = ['/api/stories/create', '/api/query', '/api/agents.catalog/get', '/api/admin/platform?a=b'];
    for (const path of asked) {
      for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
        const response = await fetch(new URL(path, api.url()), {
          method,
          headers: { accept: 'text/html', 'content-type': 'text/plain' },
          ...(method.startsWith('P') && { body: 'anything' }),
        });
        expect([path, method, response.status, response.headers.get('allow')]).toEqual([
          path,
          method,
          405,
          'POST',
        ]);
        expect(response.headers.get('content-type')).toContain('application/json');
        if (method === 'HEAD') expect(await response.text()).toBe('');
        else
          expect(await response.json()).toMatchObject({
            code: 'method_not_allowed',
            status: 405,
            details: { reason: 'method_not_allowed', retryable: false },
          });
      }
    }
    expect((await fetch(new URL('/api/stories/nothing', api.url()))).status).toBe(404);
  });
});

describe('health and metrics', () => {
  it('is live and ready while Postgres is there', async () => {
    expect((await api.request('/livez', { method: 'GET' })).body).toEqual({
      ...{ status: 'live', version: productVersion },
    });
    const ready = await api.request('/readyz', { method: 'GET' });
    expect([ready.status, ready.body]).toEqual([200, { status: 'ready', checks: { postgres: 'ok' } }]);
  });

  it('counts operations by name and outcome for Prometheus', async () => {
    const { ana } = await api.org();
    await api.call(ana.me.token, 'session.identity');
    await api.call(ana.me.token, 'session.identity', { tpyo: 1 });
    const text = await api.metrics();
    expect((await api.request('/metrics', { method: 'GET' })).status).toBe(404);
    expect(text).toMatch(
      /muster_operations_total\{operation="session\.identity",outcome="ok",service="coordination-api"\} \d+/,
    );
    expect(text).toMatch(
      /muster_operations_total\{operation="session\.identity",outcome="bad_request".*\} 1/,
    );
    expect(text).toMatch(
      /muster_operation_duration_seconds_bucket\{le="0\.005",service="coordination-api",operation="session\.identity"\} \d+/,
    );
  });
});
