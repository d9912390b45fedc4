import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, httpTransport, NoAnswer } from '@muster/client';
import { putContent, toFileToAttach, uploadFile } from './upload.ts';

const content = Buffer.from('text');
const unused = 'http://127.0.0.1:1';

describe('uploads', () => {
  /** Accepts requests and does not answer. */
  const server = createServer();
  let url = '';
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('report a storage that does not answer as an outage', async () => {
    await expect(putContent({ url: unused, headers: {} }, content, { retryDelaysMs: [] })).rejects.toThrow(
      NoAnswer,
    );
  });

  it('end with their signal, also while the API does not answer', async () => {
    const client = createClient(httpTransport({ baseUrl: url, token: 'x' }));
    const ended = new AbortController();
    server.once('request', () => {
      ended.abort(new Error('too late'));
    });
    const file = toFileToAttach('a.txt', content, 'file');
    const target = { targetType: 'story', targetId: 'WEB-1' } as const;
    await expect(uploadFile(client, target, file, { signal: ended.signal })).rejects.toThrow('too late');
  });
});
