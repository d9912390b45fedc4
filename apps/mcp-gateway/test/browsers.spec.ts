// Pages of other origins: configured ones may call the gateway and read its responses.
import { describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.ts';

const gateway = useGateway({ ALLOWED_ORIGINS: 'https://app.example' });

const preflight = (origin: string) =>
  gateway.send({
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,mcp-protocol-version,x-mcp-mode',
    },
  });

describe('a page', () => {
  it('of an origin that is named may ask whether it may, without a token, and then calls', async () => {
    const origin = 'https://app.example';
    const { status, headers } = await preflight(origin);
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, origin]);
    expect(headers.get('access-control-allow-methods')).toBe('POST');
    for (const name of ['authorization', 'content-type', 'mcp-protocol-version', 'mcp-name', 'x-mcp-mode'])
      expect(headers.get('access-control-allow-headers')).toContain(name);
    const { ana } = await gateway.world.org();
    const called = await gateway.rpc(ana.me.token, 'ping', {}, { headers: { origin } });
    expect([called.status, called.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    expect(called.headers.get('access-control-expose-headers')).toContain('www-authenticate');
    expect(called.headers.get('vary')).toContain('Origin');
    // The page can read the reason of a refusal.
    const refused = await gateway.rpc('nonsense', 'ping', {}, { headers: { origin } });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, origin]);
  });

  it('of another origin is refused, and told of none that is allowed', async () => {
    const origin = 'https://other.example';
    const { status, headers } = await preflight(origin);
    expect([status, headers.get('access-control-allow-origin')]).toEqual([403, null]);
    const { ana } = await gateway.world.org();
    const called = await gateway.rpc(ana.me.token, 'ping', {}, { headers: { origin } });
    expect([called.status, called.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  });

  it('none is a program: it sends no origin', async () => {
    const { ana } = await gateway.world.org();
    expect((await gateway.rpc(ana.me.token, 'ping')).status).toBe(200);
  });
});
