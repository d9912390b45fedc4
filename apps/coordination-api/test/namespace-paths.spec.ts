/** Namespaces under a single path: the body contains the operation's last word and its parameters. */
import { describe, expect, it } from '@jest/globals';
import { useApi } from './api.ts';

const api = useApi();

const people = async () => {
  const org = await api.org();
  const operator = await api.world.token(org.orgId, org.ana.me.memberId, { scopes: ['platform'] });
  return { ...org, operator };
};

describe.each(['/api/admin/platform', '/api/admin.platform'])('%s', (path) => {
  it('answers as the paths of its operations do', async () => {
    const { operator, slug } = await people();
    const { token } = operator.me;
    const params = { query: slug, limit: 1 };
    const own = await api.call(token, 'admin.platform.orgs', params);
    const answer = await api.request(path, { token, body: { operation: 'orgs', ...params } });
    expect([answer.status, answer.body]).toEqual([200, own.body]);
    expect(answer.body).toMatchObject({ items: [{ slug }] });
    const metrics = await api.request(path, { token, body: { operation: 'metrics' } });
    expect([metrics.status, metrics.body]).toEqual([200, { metrics: expect.any(Object) }]);
  });

  it('refuses a word that is missing or unknown, and says which there are', async () => {
    const { operator } = await people();
    for (const body of [
      {},
      { operation: 'nope' },
      { operation: 1 },
      { operation: 'admin.platform.metrics' },
    ]) {
      const answer = await api.request(path, { token: operator.me.token, body });
      expect([answer.status, answer.body.code, answer.body.details?.issues?.[0]]).toEqual([
        400,
        'bad_request',
        { path: 'operation', message: 'must be one of accounts, orgs, teams, subscriptions, metrics' },
      ]);
    }
  });

  it('refuses what its operations refuse', async () => {
    const { operator, ana } = await people();
    const { token } = operator.me;
    expect((await api.request(path, { token: null, body: { operation: 'metrics' } })).status).toBe(401);
    for (const body of [[], '"metrics"', { operation: 'metrics', tpyo: 1 }, undefined])
      expect((await api.request(path, { token, body })).status).toBe(400);
    const answer = await api.request(path, { token: ana.me.token, body: { operation: 'metrics' } });
    expect([answer.status, answer.body.details?.reason]).toEqual([403, 'scope']);
  });
});

describe.each(['/api/agents/catalog', '/api/agents.catalog'])('%s', (path) => {
  it('takes 8 MiB for publishing alone', async () => {
    const { chloe } = await people();
    const ask = (body: unknown) => api.request(path, { token: chloe.me.token, body });
    const published = await ask({
      ...{ operation: 'publish', slug: 'reviewer', version: '1.0.0', name: 'Reviewer', manifest: {} },
      ...{ description: 'Reads a change.', content: 'x'.repeat(1024 * 1024) },
    });
    expect([published.status, published.body]).toMatchObject([200, { agent: { slug: 'reviewer' } }]);
    expect((await ask({ operation: 'list', query: 'x'.repeat(1024 * 1024) })).status).toBe(413);
    expect((await ask({ operation: 'steal' })).status).toBe(400);
    expect((await ask({ operation: 'delete', slug: 'reviewer' })).body).toEqual({ deleted: true });
  });
});

describe('/openapi.json', () => {
  it('describes the path, with its words', async () => {
    const { body } = await api.request('/openapi.json', { method: 'GET' });
    expect(body).toMatchObject({
      paths: {
        '/api/admin/platform': {
          post: {
            requestBody: {
              content: {
                'application/json': {
                  schema: {
                    properties: {
                      operation: { enum: ['accounts', 'orgs', 'teams', 'subscriptions', 'metrics'] },
                    },
                  },
                },
              },
            },
          },
        },
      },
    });
  });
});
