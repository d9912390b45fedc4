/** Requests through `/api/mcp` to a slow gateway: their number is limited, whatever the method. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { waitUntil } from '@muster/testing';
import { useApi } from './api.ts';

const api = useApi({ DATABASE_POOL: '2' });
/** Maximum number of concurrent requests of a token. */
const maxForwardedCalls = 128;

let gateway: Server;
let reachedCount = 0;
beforeAll(async () => {
  // The gateway accepts every request and never responds.
  gateway = createServer(() => (reachedCount += 1)).listen(0, '127.0.0.1');
  await once(gateway, 'listening');
});
afterAll(() => {
  gateway.closeAllConnections();
  gateway.close();
});

it.each(['POST', 'GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'])(
  'one %s more than a token may have on their way is refused, and those of others are not',
  async (method) => {
    const { port } = gateway.address() as AddressInfo;
    const copy = await api.startReplica({ MCP_GATEWAY_URL: `http://127.0.0.1:${port}` });
    const { ana, ben } = await api.org();
    const gone = new AbortController();
    const ask = (token: string) =>
      fetch(new URL('/api/mcp', copy.url()), {
        method,
        headers: { authorization: `Bearer ${token}` },
        signal: gone.signal,
      });
    reachedCount = 0;
    const forwarded: Promise<unknown>[] = [];
    // Add requests in small groups, because each occupies one of the twelve request slots until it is authenticated.
    for (let count = 8; count <= maxForwardedCalls; count += 8) {
      for (let one = 0; one < 8; one += 1) forwarded.push(ask(ana.me.token).catch(() => undefined));
      await waitUntil(() => reachedCount === count);
    }
    const refused = await ask(ana.me.token);
    expect([refused.status, await refused.json()]).toEqual([
      429,
      expect.objectContaining({ details: expect.objectContaining({ reason: 'too_many_forwarded' }) }),
    ]);
    forwarded.push(ask(ben.me.token).catch(() => undefined));
    await waitUntil(() => reachedCount === maxForwardedCalls + 1);
    gone.abort();
    await Promise.all(forwarded);
    await copy.stop();
  },
);
