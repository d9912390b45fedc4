/** Receives a file into a folder of this machine while its size and its digest are computed. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable } from 'node:stream';
import { malformedRequest, maxAttachmentBytes, payloadTooLarge, serviceUnavailable } from '@muster/contract';
import { type ReceivedFile } from './storage/storage.ts';

export const fileTooLargeError = () =>
  payloadTooLarge('file_too_large', undefined, { limit: maxAttachmentBytes });

/** Writes the bytes to a new file, and fails as soon as there are more than a file may have. */
async function write(path: string, body: Readable): Promise<ReceivedFile> {
  const hash = createHash('sha256');
  let size = 0;
  const file = await open(path, 'wx', 0o600);
  try {
    // The request is not destroyed on an error, so that its response can be sent.
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxAttachmentBytes) throw fileTooLargeError();
      hash.update(chunk);
      await file.appendFile(chunk);
    }
  } finally {
    await file.close();
  }
  return { path, size, sha256: hash.digest('hex') };
}

/**
 * Runs `work` with the received file, and deletes the file afterwards unless `work` moved it. Throws 413 for a file
 * that is too large, 400 for one that ends early, and 503 if the folder is not writable.
 */
export async function withReceivedFile<Result>(
  folder: string,
  body: Readable,
  work: (file: ReceivedFile) => Promise<Result>,
): Promise<Result> {
  const path = join(folder, randomUUID());
  try {
    let received: ReceivedFile;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      received = await write(path, body);
    } catch (error) {
      if (body.errored !== null) throw malformedRequest('malformed_request', 'The upload ended early.');
      if (error instanceof Error && 'syscall' in error) throw serviceUnavailable('files_away');
      throw error;
    }
    return await work(received);
  } finally {
    await rm(path, { force: true });
  }
}
