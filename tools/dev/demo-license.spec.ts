import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { provideDemoLicense } from './demo-license.ts';

it('keeps the license of the last start through a moment in which the service is too busy', async () => {
  const statuses = [503, 200];
  const server = createServer((_, answer) => {
    answer.writeHead(statuses.shift() ?? 500).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const key = await provideDemoLicense('postgres://unused', `http://127.0.0.1:${port}`, 'MSTR1-KEY');
    expect([key, statuses]).toEqual(['MSTR1-KEY', []]);
  } finally {
    server.close();
  }
});
