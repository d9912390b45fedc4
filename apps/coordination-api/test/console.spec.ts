/**
 * The console under the API's origin: responses of its service, requested without the caller's credentials.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { useApi } from './api.ts';

const api = useApi();
const receivedRequests: { readonly url: string | undefined; readonly headers: IncomingHttpHeaders }[] = [];
let consoleServer: Server;
beforeAll(async () => {
  consoleServer = createServer(({ url, headers }, response) => {
    receivedRequests.push({ url, headers });
    response
      .writeHead(200, { 'content-type': 'text/html', 'content-security-policy': "default-src 'none'" })
      .end('<title>Muster</title>');
  }).listen(0, '127.0.0.1');
  await once(consoleServer, 'listening');
});
afterAll(() => {
  consoleServer.closeAllConnections();
  consoleServer.close();
});
const consoleEnvironment = () => ({
  CONSOLE_URL: `http://127.0.0.1:${(consoleServer.address() as AddressInfo).port}`,
});

it('hands its pages on as they come, and neither token nor cookie with the request', async () => {
  const copy = await api.startReplica(consoleEnvironment());
  const answer = await fetch(new URL('/console/p/WEB?q=a', copy.url()), {
    headers: { authorization: 'Bearer must_live_none', cookie: 'a=b', 'if-none-match': '"x"' },
  });
  expect([answer.status, await answer.text(), answer.headers.get('content-security-policy')]).toEqual([
    ...[200, '<title>Muster</title>', "default-src 'none'"],
  ]);
  expect(receivedRequests).toHaveLength(1);
  expect(receivedRequests[0]).toMatchObject({
    url: '/console/p/WEB?q=a',
    headers: { 'if-none-match': '"x"' },
  });
  expect(Object.keys(receivedRequests[0]?.headers ?? {})).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^(cookie|authorization)$/)]),
  );
  expect(
    await (await fetch(new URL('/', copy.url()), { headers: { accept: 'text/markdown' } })).text(),
  ).toContain('/console/');
  await copy.stop();
});

it('answers 503 while the pages are away, and 404 where there is no console', async () => {
  const copy = await api.startReplica({
    ...{ CONSOLE_URL: 'http://127.0.0.1:1', SIGN_IN_URL: 'http://127.0.0.1:1' },
    BASE_URL: 'http://127.0.0.1:4100',
  });
  const away = await fetch(new URL('/console/', copy.url()));
  expect([away.status, await away.json()]).toEqual([
    503,
    expect.objectContaining({ details: expect.objectContaining({ reason: 'console_away' }) }),
  ]);
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
  for (const path of ['/console/', '/sign-in', '/oauth/authorize']) {
    const page = await fetch(new URL(path, copy.url()), { headers: { accept } });
    const type = page.headers.get('content-type')?.split(';')[0];
    expect([path, page.status, type]).toEqual([path, 503, 'text/html']);
    expect(await page.text()).toContain('<h1>Temporarily unavailable</h1>');
  }
  await copy.stop();
  expect((await fetch(new URL('/console/', api.url()))).status).toBe(404);
});
