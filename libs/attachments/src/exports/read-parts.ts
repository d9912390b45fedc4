/** Reads the parts of an archive in their order. */
import { createHash } from 'node:crypto';
import { createGunzip } from 'node:zlib';
import { fileKey, type FileStorage } from '../storage/storage.ts';

/** Yields the bytes of the parts, one part after the other. */
export async function* readParts(
  storage: FileStorage,
  orgId: string,
  partIds: readonly string[],
): AsyncGenerator<Buffer> {
  for (const id of partIds) {
    const content = await storage.open(fileKey(orgId, id));
    if (content === undefined) throw new Error(`the part ${id} of an export is missing`);
    yield* content as AsyncIterable<Buffer>;
  }
}

/** Computes the digest of the first bytes of parts, uncompressed. */
export async function hashParts(
  storage: FileStorage,
  orgId: string,
  partIds: readonly string[],
  size: number,
): Promise<string> {
  const hash = createHash('sha256');
  let left = size;
  for (const id of partIds) {
    const content = await storage.open(fileKey(orgId, id));
    if (content === undefined) throw new Error(`the part ${id} of an export is missing`);
    const gunzip = createGunzip();
    content.on('error', (error) => gunzip.destroy(error));
    for await (const chunk of content.pipe(gunzip) as AsyncIterable<Buffer>) {
      hash.update(chunk.subarray(0, left));
      left -= Math.min(left, chunk.length);
    }
  }
  if (left > 0) throw new Error('the parts of an export are shorter than their file');
  return hash.digest('hex');
}
