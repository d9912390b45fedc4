import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parseNetworks } from './addresses.ts';
import { guardedFetch } from './fetch.ts';
import { createSender } from './sender.ts';

let text = '';
const server = createServer((_request, response) => {
  response.end(text);
});
const sender = createSender({ networks: parseNetworks('127.0.0.0/8:*') });

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  sender.close();
  server.close();
  await once(server, 'close');
});

async function fetchAnswer(answer: string): Promise<string> {
  text = answer;
  const { port } = server.address() as AddressInfo;
  return (await guardedFetch(sender)(`http://127.0.0.1:${port}/`)).text();
}

it('refuses JSON that nests too deep before its caller parses it', async () => {
  await expect(fetchAnswer(`\n${'['.repeat(500_000)}`)).rejects.toThrow(SyntaxError);
  for (const answer of ['{"issuer":"a"}', '('.repeat(100)]) expect(await fetchAnswer(answer)).toBe(answer);
});
