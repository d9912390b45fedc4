/**
 * A part of an archive: a file on this machine that is compressed while it is written. The parts of an archive form a
 * valid gzip file when they are joined.
 */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { tarHeader, tarPadding } from '../rules/tar.ts';
import { type ReceivedFile } from '../storage/storage.ts';

export interface PartFile {
  /** The number of bytes that were written, before compression. */
  readonly rawBytes: () => number;
  readonly write: (bytes: Buffer) => Promise<void>;
  /** Writes an entry of the tar file whose content is in memory. */
  readonly writeEntry: (name: string, content: Buffer) => Promise<void>;
  /** Writes an entry whose content is in a file. */
  readonly writeFileEntry: (name: string, file: ReceivedFile) => Promise<void>;
  /** Completes the file. */
  readonly finish: () => Promise<ReceivedFile>;
  /** Deletes the file, complete or not. */
  readonly discard: () => Promise<void>;
}

export async function openPartFile(folder: string, modifiedAt: Date): Promise<PartFile> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const place = path.join(folder, randomUUID());
  const gzip = createGzip();
  const hash = createHash('sha256');
  let size = 0;
  let rawBytes = 0;
  const written = pipeline(
    gzip,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        size += chunk.length;
        hash.update(chunk);
        yield chunk;
      }
    },
    createWriteStream(place, { flags: 'wx', mode: 0o600 }),
  );
  // `finish` reports the error. Until then, it only interrupts the writing.
  written.catch(() => undefined);

  const write = async (bytes: Buffer): Promise<void> => {
    if (bytes.length === 0) return;
    rawBytes += bytes.length;
    if (!gzip.write(bytes)) await Promise.race([once(gzip, 'drain'), written]);
  };
  return {
    rawBytes: () => rawBytes,
    write,
    writeEntry: async (name, content) => {
      await write(tarHeader(name, content.length, modifiedAt));
      await write(content);
      await write(tarPadding(content.length));
    },
    writeFileEntry: async (name, file) => {
      await write(tarHeader(name, file.size, modifiedAt));
      for await (const chunk of createReadStream(file.path) as AsyncIterable<Buffer>) await write(chunk);
      await write(tarPadding(file.size));
    },
    finish: async () => {
      gzip.end();
      await written;
      return { path: place, size, sha256: hash.digest('hex') };
    },
    discard: async () => {
      gzip.destroy();
      await written.catch(() => undefined);
      await rm(place, { force: true });
    },
  };
}
