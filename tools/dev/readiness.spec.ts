import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { untilReady } from './readiness.ts';

const running = { isAlive: () => true, exited: new Promise<never>(() => undefined) };
let asked = 0;
/**
 * A server that is ready from its third answer on, but only at the path `/slow/readyz`. At any other path it
 * is never ready.
 */
const server = createServer(({ url }, answer) => {
  asked += 1;
  answer.statusCode = url === '/slow/readyz' && asked >= 3 ? 200 : 503;
  answer.end('the pages are being built');
});
let url: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('an app that begins', () => {
  it('is waited for until it is ready', async () => {
    await untilReady('docs', `${url}/slow`, running, 60);
    expect(asked).toBeGreaterThanOrEqual(3);
  });

  it('is waited for as long as is said, and its last answer is told', async () => {
    await expect(untilReady('docs', `${url}/never`, running, 0.2)).rejects.toThrow(
      `docs is not ready after 0.2 s (${url}/never/readyz: 503: the pages are being built)`,
    );
  });
});
