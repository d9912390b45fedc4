/** The storage in a bucket, against a server with the interface of S3. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import S3rver from 's3rver';
import { createFolderStorage } from './folder.ts';
import { createS3Storage } from './s3.ts';
import { type FileStorage } from './storage.ts';

const folder = await mkdtemp(join(tmpdir(), 'muster-s3-'));
const server = new S3rver({
  ...{ port: 0, address: '127.0.0.1', silent: true, directory: join(folder, 'server') },
  configureBuckets: [{ name: 'files', configs: [] }],
});
const storages: Record<string, FileStorage> = { folder: createFolderStorage(join(folder, 'local')) };
const options = { bucket: 'files', region: 'eu-central-1', accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
let endpoint = '';

beforeAll(async () => {
  const { address, port } = await server.run();
  endpoint = `http://${address}:${port}`;
  storages['S3'] = createS3Storage({ ...options, endpoint });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const textOf = async (content: Readable | undefined) => content && (await buffer(content)).toString();

describe.each(['folder', 'S3'])('the storage in %s', (name) => {
  const storage = () => storages[name] as FileStorage;
  const put = async (key: string, content: string) => {
    const path = join(folder, 'received');
    await writeFile(path, content);
    const sha256 = createHash('sha256').update(content).digest('hex');
    await storage().put(key, { path, size: Buffer.byteLength(content), sha256 });
  };

  it('returns what was stored, replaces it, and deletes it', async () => {
    await storage().check();
    for (const content of ['x'.repeat(200_000), 'short', '']) {
      await put('org/a', content);
      expect(await textOf(await storage().open('org/a'))).toBe(content);
    }
    await put('org/a', '0123456789');
    expect(await textOf(await storage().open('org/a', { start: 2, end: 5 }))).toBe('2345');
    await storage().remove('org/a');
    await storage().remove('org/a');
    expect(await storage().open('org/a')).toBeUndefined();
  });
});

describe('a bucket that is not available', () => {
  it('fails the check and each access', async () => {
    const storage = createS3Storage({ ...options, endpoint, bucket: 'others' });
    await expect(storage.check()).rejects.toThrow('S3 answered HEAD');
    const path = join(folder, 'received');
    await writeFile(path, 'x');
    const sha256 = createHash('sha256').update('x').digest('hex');
    await expect(storage.put('org/a', { path, size: 1, sha256 })).rejects.toThrow('S3 answered PUT');
  });
});

describe('a server that ignores ranges', () => {
  it('fails a download of a part', async () => {
    const ignorant = createServer((_call, response) => response.end('0123456789'));
    await once(ignorant.listen(0, '127.0.0.1'), 'listening');
    const { port } = ignorant.address() as AddressInfo;
    const storage = createS3Storage({ ...options, endpoint: `http://127.0.0.1:${port}` });
    expect(await textOf(await storage.open('org/a'))).toBe('0123456789');
    await expect(storage.open('org/a', { start: 2, end: 5 })).rejects.toThrow('S3 answered GET with 200');
    ignorant.close();
  });
});
