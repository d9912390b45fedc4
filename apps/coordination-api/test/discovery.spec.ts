/** Discovery: pages and files of the API for people, models and programs that know only its address. */
import { describe, expect, it } from '@jest/globals';
import { knownDates, updatePageDates, referencePages } from '@muster/reference';
import { productVersion } from '@muster/contract';
import { operations } from '@muster/registry';
import { useApi } from './api.ts';

const base = 'https://muster.example';
const api = useApi({
  BASE_URL: `${base}/`,
  DOCS_URL: 'https://docs.muster.example',
  LICENSE_URL: 'https://license.muster.example',
  MCP_GATEWAY_URL: 'http://127.0.0.1:9',
  MCP_GATEWAY_KEY: 'k'.repeat(32),
  SECURITY_CONTACT: 'mailto:security@muster.example',
  CORS_ORIGINS: 'https://app.example, https://other.example',
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(new URL(path, api.url()), { headers, redirect: 'manual' });
const pages = ['/', ...referencePages().map(({ path }) => `/${path}`)];

describe('a page', () => {
  it.each([
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html', /^<!doctype html>/],
    ['*/*', 'text/html', /^<!doctype html>/],
    ['text/markdown', 'text/markdown', /^# /],
    ['text/markdown, text/html;q=0.5', 'text/markdown', /^# /],
    ['application/json', 'application/json', /^\{"/],
    ['image/png', 'text/html', /^<!doctype html>/],
  ])('asked for with Accept: %s comes as %s', async (accept, type, beginning) => {
    for (const path of ['/', '/reference', '/reference/stories']) {
      const response = await get(path, { accept });
      expect([path, response.status, response.headers.get('content-type')]).toEqual([
        path,
        200,
        `${type}; charset=utf-8`,
      ]);
      expect(response.headers.get('vary')).toContain('Accept');
      expect(await response.text()).toMatch(beginning);
    }
  });

  it('is not sent again to whoever has it, in that form', async () => {
    const accept = 'text/markdown';
    const etag = (await get('/reference', { accept })).headers.get('etag') ?? '';
    const again = await get('/reference', { accept, 'if-none-match': `"other", W/${etag}` });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect((await get('/reference', { accept: 'text/html', 'if-none-match': etag })).status).toBe(200);
  });

  it('is shown to a browser where there is none, and to programs as an error', async () => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const shown = await get('/nope', { accept });
    expect([shown.status, shown.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'");
    const html = await shown.text();
    for (const way of ['href="/"', 'href="/reference"', 'href="https://docs.muster.example"'])
      expect(html).toContain(way);
    for (const [path, headers] of [
      ['/nope', {}],
      ['/nope', { accept: 'application/json' }],
      ['/api/nope', { accept }],
    ] as const) {
      const told = await get(path, headers);
      expect([path, told.status, await told.json()]).toMatchObject([path, 404, { status: 404 }]);
    }
  });

  it('goes out in a fraction of its bytes where the caller can unpack it', async () => {
    for (const path of ['/openapi.json', '/llms-full.txt', '/reference/stories']) {
      const sizes = await Promise.all(
        ['gzip, br', 'identity'].map(async (encoding) => {
          const response = await get(path, { 'accept-encoding': encoding });
          expect(response.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : 'gzip');
          expect(response.headers.get('vary')).toContain('Accept-Encoding');
          return [
            Number(response.headers.get('content-length')),
            response.headers.get('etag'),
            await response.text(),
          ] as const;
        }),
      );
      const [packed, plain] = sizes;
      expect(packed?.[2]).toBe(plain?.[2]);
      expect(packed?.[0]).toBeGreaterThan(0);
      expect(packed?.[0]).toBeLessThan((plain?.[0] ?? 0) / 3);
      expect(packed?.[1]).not.toBe(plain?.[1]);
    }
  });

  it('has every operation on the page of its namespace, and no link that leads nowhere', async () => {
    const known = new Set(pages);
    for (const path of pages) {
      const html = await (await get(path)).text();
      const { operations: onPage = [] } = (await (
        await get(path, { accept: 'application/json' })
      ).json()) as { operations?: { name: string }[] };
      for (const { name } of onPage) expect(html).toContain(`id="${name.toLowerCase()}"`);
      for (const [, href = ''] of html.matchAll(/href="([^"]+)"/g)) {
        const target = new URL(href, `${base}${path}`);
        if (target.origin !== base || target.pathname.includes('.')) continue;
        expect([path, href, known.has(target.pathname)]).toEqual([path, href, true]);
        if (target.hash === '') continue;
        const there = await (await get(target.pathname)).text();
        expect([href, there.includes(`id="${target.hash.slice(1)}"`)]).toEqual([href, true]);
      }
    }
    const listed = referencePages().flatMap(
      ({ json }) => (json as { operations?: { name: string }[] }).operations?.map(({ name }) => name) ?? [],
    );
    expect(listed.toSorted()).toEqual([...operations.keys()].toSorted());
  }, 30_000);

  it('runs nothing and fetches nothing', async () => {
    const response = await get('/reference/stories');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await response.text()).not.toMatch(/<script|<link|src=/);
  });
});

describe('the files that programs look for', () => {
  it('llms.txt links every page, and llms-full.txt has them all', async () => {
    const text = await (await get('/llms.txt')).text();
    expect(text).toMatch(/^# Muster\n\n> /);
    for (const { path } of referencePages()) expect(text).toContain(`](${base}/${path})`);
    const full = await (await get('/llms-full.txt')).text();
    for (const name of operations.keys()) expect(full).toContain(`\n## ${name}\n`);
  });

  it('sitemap.xml has every page with the day of its last change', async () => {
    const xml = await (await get('/sitemap.xml')).text();
    const found = [...xml.matchAll(/<loc>(.+?)<\/loc><lastmod>(.+?)<\/lastmod>/g)];
    expect(found.map(([, loc]) => loc)).toEqual(pages.map((path) => `${base}${path}`));
    for (const [, loc = '', day] of found.slice(1)) {
      expect(knownDates[loc.slice(base.length + 1)]?.since).toBe(day);
    }
  });

  it('a page whose text changed has a new date, and only that page', () => {
    const [first, second, ...rest] = referencePages();
    if (first === undefined || second === undefined) throw new Error('there are no pages');
    const changed = { ...second, markdown: `${second.markdown}More.\n` };
    const before = updatePageDates([first, second, ...rest], {}, '2026-01-01');
    const after = updatePageDates([first, changed, ...rest], before, '2026-02-02');
    expect(Object.entries(after).filter(([, { since }]) => since === '2026-02-02')).toHaveLength(1);
    expect(after[second.path]?.since).toBe('2026-02-02');
  });

  it('robots.txt names the sitemap and keeps crawlers from the operations', async () => {
    const text = await (await get('/robots.txt')).text();
    expect(text).toContain(`Sitemap: ${base}/sitemap.xml`);
    expect(text).toContain('Disallow: /api/');
  });

  it('security.txt says where to report a weakness, and holds for at most a year', async () => {
    const response = await get('/.well-known/security.txt');
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const said = await response.text();
    expect(said).toMatch(/^Contact: mailto:security@muster.example$/m);
    expect(said).toContain(`Canonical: ${base}/.well-known/security.txt`);
    const [, expires = ''] = /^Expires: (.*)$/m.exec(said) ?? [];
    const days = (Date.parse(expires) - Date.now()) / 86_400_000;
    expect(days > 1 && days < 365).toBe(true);
  });

  it('agents.json says where everything is', async () => {
    const response = await get('/.well-known/agents.json');
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toMatchObject({
      api: { baseUrl: base, openapi: `${base}/openapi.json`, dispatcher: `${base}/api/query` },
      tools: { protocol: 'mcp' },
      authentication: { scheme: 'bearer' },
      licenses: { activate: 'https://license.muster.example/api/activate' },
      documentation: { guides: 'https://docs.muster.example', llms: `${base}/llms.txt` },
    });
  });
});

describe('what MCP and A2A clients look for', () => {
  it('is a catalog that names the card of the MCP server, and a card that names its address', async () => {
    const catalog = await get('/.well-known/ai-catalog.json');
    expect(catalog.headers.get('content-type')).toBe('application/ai-catalog+json; charset=utf-8');
    expect(await catalog.json()).toEqual({
      specVersion: '1.0',
      entries: [
        {
          identifier: 'urn:air:muster.example:mcp:muster',
          type: 'application/mcp-server-card+json',
          url: `${base}/api/mcp/server-card`,
        },
        {
          identifier: 'urn:air:muster.example:a2a:muster',
          type: 'application/a2a-agent-card+json',
          url: `${base}/.well-known/agent-card.json`,
        },
      ],
    });
    const card = await get('/api/mcp/server-card', { accept: 'application/mcp-server-card+json' });
    expect(card.headers.get('content-type')).toBe('application/mcp-server-card+json; charset=utf-8');
    const described = {
      name: 'example.muster/muster',
      title: 'Muster',
      description: expect.stringMatching(/^.{1,100}$/),
      version: productVersion,
      websiteUrl: 'https://docs.muster.example',
      remotes: ['', '?mode=full'].map((mode) => ({ type: 'streamable-http', url: `${base}/api/mcp${mode}` })),
    };
    const schemas = 'https://static.modelcontextprotocol.io/schemas';
    expect(await card.json()).toEqual({
      ...{ ...described, $schema: `${schemas}/v1/server-card.schema.json` },
    });
    // Registries of MCP servers take this file.
    expect(await (await get('/api/mcp/server.json')).json()).toEqual({
      ...{ ...described, $schema: `${schemas}/2025-12-11/server.schema.json` },
    });
  });

  it('has the configured namespace', async () => {
    const copy = await api.startReplica({ MCP_NAMESPACE: 'com.acme.tools' });
    for (const path of ['/api/mcp/server.json', '/api/mcp/server-card'])
      expect(await (await fetch(new URL(path, copy.url()))).json()).toMatchObject({
        name: 'com.acme.tools/muster',
      });
    await copy.stop();
  });

  it('is a card of the A2A endpoint with all fields that A2A 1.0 requires', async () => {
    const card = await get('/.well-known/agent-card.json');
    expect(card.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await card.json()).toMatchObject({
      ...{ name: 'Muster', description: expect.any(String), version: productVersion },
      supportedInterfaces: [{ url: `${base}/api/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: true, pushNotifications: false },
      securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
      securityRequirements: [{ schemes: { token: { list: [] } } }],
      ...{ defaultInputModes: expect.any(Array), defaultOutputModes: expect.any(Array) },
      skills: [{ id: 'implement', name: expect.any(String), tags: expect.any(Array) }],
    });
  });

  it('can be read by pages of any origin, and answers 304 to an equal ETag', async () => {
    for (const path of [
      '/.well-known/ai-catalog.json',
      '/api/mcp/server-card',
      '/.well-known/agent-card.json',
    ]) {
      const first = await get(path, { origin: 'https://anywhere.example' });
      expect(first.headers.get('access-control-allow-origin')).toBe('*');
      expect(first.headers.get('cache-control')).toBe('public, max-age=3600');
      const etag = first.headers.get('etag') ?? '';
      expect((await get(path, { 'if-none-match': etag })).status).toBe(304);
      const preflight = await fetch(new URL(path, api.url()), {
        method: 'OPTIONS',
        headers: { origin: 'https://anywhere.example', 'access-control-request-method': 'GET' },
      });
      expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([
        204,
        'Content-Type, If-None-Match',
      ]);
    }
  });
});

describe('a page of another origin', () => {
  const preflight = (origin: string) =>
    fetch(new URL('/api/session/identity', api.url()), {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,idempotency-key',
      },
    });

  it('may call where it is configured, and read what it needs', async () => {
    const allowed = await preflight('https://other.example');
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://other.example');
    expect(allowed.headers.get('access-control-allow-headers')).toContain('idempotency-key');
    const { ana } = await api.org();
    const response = await fetch(new URL('/api/session/identity', api.url()), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ana.me.token}`,
        'content-type': 'application/json',
        origin: 'https://app.example',
      },
      body: '{}',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(response.headers.get('access-control-expose-headers')).toContain('retry-after');
  });

  it('may not where it is not', async () => {
    const refused = await preflight('https://evil.example');
    expect(refused.headers.get('access-control-allow-origin')).toBeNull();
  });
});
