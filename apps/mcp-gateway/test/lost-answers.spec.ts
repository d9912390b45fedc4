// A write whose response is lost between the API and the gateway, which then retries it.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createGateway, type Gateway } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { type RpcAnswer, useGateway } from './gateway.ts';

const backendGateway = useGateway();

let proxy: Server;
let gateway: Gateway;
let url = '';
/** The path whose responses the proxy drops, and the number of responses that it still has to drop. */
const responseToDrop = { path: '/api/comments/create', left: 0 };

beforeAll(async () => {
  proxy = createServer((request, response) => {
    void (async () => {
      const { method = 'GET', url: path = '/', headers } = request;
      const body = await buffer(request);
      const passed = ['authorization', 'content-type', 'idempotency-key'].flatMap((name) => {
        const value = headers[name];
        return typeof value === 'string' ? [[name, value] as [string, string]] : [];
      });
      const answer = await fetch(new URL(path, backendGateway.apiUrl()), {
        // The response is passed on with its original headers, so its body must not be decompressed.
        ...{ method, headers: [...passed, ['accept-encoding', 'identity']] },
        ...(body.length > 0 && { body: new Uint8Array(body) }),
      });
      const text = await answer.text();
      if (path === responseToDrop.path && responseToDrop.left > 0) {
        responseToDrop.left -= 1;
        response.destroy();
        return;
      }
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(text);
    })();
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  const config = readConfig({ HOST: '127.0.0.1', COORDINATION_API_URL: `http://127.0.0.1:${port}` });
  gateway = await createGateway(config, pino({ level: 'silent' }));
  url = await gateway.httpService.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await gateway.httpService.stop();
  await gateway.close();
  proxy.closeAllConnections();
  proxy.close();
});

it('happens once, and is no news to the client, who called once', async () => {
  const { ana } = await backendGateway.world.org();
  const api = backendGateway.apiClient(ana.me.token);
  await api.projects.create({ key: 'WEB', name: 'Web' });
  await api.stories.create({ projectId: 'WEB', title: 'One' });
  responseToDrop.left = 1;
  const response = await fetch(`${url}/api/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ana.me.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'comments_create', arguments: { storyId: 'WEB-1', body: 'Looks good' } },
    }),
  });
  const { result } = (await response.json()) as RpcAnswer['body'];
  expect(responseToDrop.left).toBe(0);
  expect(result).toMatchObject({ structuredContent: { comment: { body: 'Looks good' } } });
  const meta = result?.['_meta'] as Record<string, unknown>;
  expect([meta['muster/replayed'], Object.keys(result?.['structuredContent'] as object)]).toEqual([
    undefined,
    ['comment'],
  ]);
  expect((await api.comments.list({ storyId: 'WEB-1' })).items).toHaveLength(1);
});
