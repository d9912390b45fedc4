/** Compression of responses: which ones are compressed. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, it } from '@jest/globals';
import { useApi } from './api.ts';

const api = useApi();

interface WireResponse {
  readonly encoding: string | undefined;
  readonly vary: string | undefined;
  readonly body: Buffer;
}

/** Sends a request and returns the raw bytes of the response, which fetch would decompress. */
async function post(
  token: string,
  path: string,
  params: unknown,
  acceptEncoding: string,
): Promise<WireResponse> {
  const headers = {
    ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    'accept-encoding': acceptEncoding,
  };
  const sent = request(new URL(path, api.url()), { method: 'POST', headers }).end(JSON.stringify(params));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { 'content-encoding': encoding, vary } = response.headers;
  return { encoding, vary, body: Buffer.concat(await Array.fromAsync(response)) };
}

it('compresses answers above 1 KiB as the caller accepts it, on each path of an operation', async () => {
  const { ana } = await api.org();
  const client = api.client(ana.me.token);
  const { project } = await client.projects.create({ key: 'WEB', name: 'Web shop' });
  await client.stories.create({ projectId: project.id, title: 'Long', description: 'word '.repeat(1_000) });
  const ask = (path: string, params: object, accept: string) => post(ana.me.token, path, params, accept);
  const plain = await ask('/api/stories/get', { storyId: 'WEB-1' }, 'identity');
  expect([plain.encoding, plain.body.length > 5_000]).toEqual([undefined, true]);
  const zipped = await ask('/api/stories/get', { storyId: 'WEB-1' }, 'gzip, deflate');
  expect([zipped.encoding, zipped.vary]).toEqual(['gzip', 'accept-encoding']);
  expect(gunzipSync(zipped.body)).toEqual(plain.body);
  const query = { operation: 'stories.get', params: { storyId: 'WEB-1' } };
  const brotli = await ask('/api/query', query, 'gzip, deflate, br');
  expect(brotli.encoding).toBe('br');
  expect(brotliDecompressSync(brotli.body)).toEqual(plain.body);
});

it('leaves short answers, and those with a secret, as they are', async () => {
  const { ana } = await api.org();
  const short = await post(ana.me.token, '/api/notifications/unreadCount', {}, 'gzip');
  expect([short.encoding, short.body.length < 1_024]).toEqual([undefined, true]);
  const name = 'é'.repeat(100);
  const token = { name, scopes: ['read'], ...{ expiresInDays: 7 } };
  const url = `https://hooks.example.com/${'a'.repeat(1_200)}`;
  const hook = await post(ana.me.token, '/api/webhooks/create', { url, kinds: ['story.created'] }, 'gzip');
  expect([hook.encoding, hook.body.length > 1_024]).toEqual([undefined, true]);
  expect(hook.body.toString()).toContain('"secret"');
  const made = await post(ana.me.token, '/api/tokens/create', token, 'gzip');
  expect(made.encoding).toBeUndefined();
});
