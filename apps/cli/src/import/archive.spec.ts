import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, httpTransport } from '@muster/client';
import { bulkBodyLimitBytes, maxAttachmentBytes } from '@muster/contract';
import tar from 'tar-stream';
import { importArchive } from './archive.ts';

/** An archive that is refused before anything is sent. */
const client = createClient(httpTransport({ baseUrl: 'http://127.0.0.1:1' }));
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-archive-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function importFile(name: string, content: Buffer): Promise<void> {
  const pack = tar.pack();
  pack.entry({ name }, content);
  pack.finalize();
  const file = path.join(folder, 'archive.tar.gz');
  await pipeline(pack, createGzip(), createWriteStream(file));
  await importArchive(client, file, { name: 'Archive', onProgress: () => undefined }, []);
}

describe('importArchive', () => {
  it('refuses a file that no attachment can have', async () => {
    await expect(importFile('attachments/a', Buffer.alloc(maxAttachmentBytes + 1))).rejects.toThrow(
      'attachments/a is larger than 50 MiB',
    );
  });

  it('refuses a line that no call can have, and one that is no JSON', async () => {
    await expect(importFile('members.ndjson', Buffer.alloc(2 * bulkBodyLimitBytes, 'a'))).rejects.toThrow(
      'members.ndjson has a line of more than 8 MiB',
    );
    await expect(importFile('members.ndjson', Buffer.from('{}\nno\n'))).rejects.toThrow(
      'members.ndjson has a line that is not a JSON object',
    );
  });
});
