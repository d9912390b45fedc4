/** Reads the archive of an export from a file, entry by entry, and checks it against its signed manifest. */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { NoAnswer } from '@muster/client';
import {
  ArchiveManifest,
  exportKeysPath,
  manifestFileName,
  manifestSignatureFileName,
} from '@muster/contract';
import { UsageError } from '@muster/terminal';
import tar from 'tar-stream';
import { z } from 'zod';
import { readTextInput } from '../input.ts';

/** A file in an archive. Its content must be read before the next one is requested. */
export interface ArchiveEntry {
  readonly name: string;
  readonly size: number;
  readonly content: AsyncIterable<Buffer>;
}

/** The manifest and the signature are held in memory, so they are limited. */
const maxManifestBytes = 256 * 1024 * 1024;

const incompleteArchive = (path: string, error: unknown): UsageError =>
  new UsageError(`${path} is not a complete archive: ${(error as Error).message}`);

async function* readEntry(content: AsyncIterable<Buffer>, path: string): AsyncGenerator<Buffer> {
  try {
    yield* content;
  } catch (error) {
    throw incompleteArchive(path, error);
  }
}

/** Yields the files of an archive in their order. Throws UsageError if the file is not a complete archive. */
export async function* readArchive(path: string): AsyncGenerator<ArchiveEntry> {
  const extract = tar.extract();
  const source = createReadStream(path);
  const gunzip = createGunzip();
  let failure: Error | undefined;
  const fail = (error: Error): void => {
    failure ??= error;
    extract.destroy(error);
  };
  source.on('error', fail);
  gunzip.on('error', fail);
  extract.on('error', fail);
  source.pipe(gunzip).pipe(extract);
  try {
    for await (const entry of extract) {
      const { name, size, type } = entry.header;
      if (type !== 'file') throw new Error(`${name} is not a regular file`);
      yield { name, size, content: readEntry(entry as AsyncIterable<Buffer>, path) };
      entry.resume();
    }
    if (failure !== undefined) throw failure;
  } catch (error) {
    throw incompleteArchive(path, error);
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

async function contentOf({ name, content }: ArchiveEntry): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (size > maxManifestBytes)
      throw new UsageError(`${name} has more than ${maxManifestBytes / 1024 ** 2} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const PublishedKeys = z.object({ keys: z.array(z.object({ kid: z.string(), pem: z.string() })) });
type PublishedExportKeys = z.infer<typeof PublishedKeys>;

function parseExportKeys(text: string, source: string): PublishedExportKeys {
  try {
    return PublishedKeys.parse(JSON.parse(text));
  } catch {
    throw new UsageError(`${source} does not contain the keys of exports`);
  }
}

/** Fetches the keys that an installation publishes. */
export async function fetchExportKeys(baseUrl: string): Promise<PublishedExportKeys> {
  const url = baseUrl.replace(/\/+$/, '') + exportKeysPath;
  const response = await fetchOrNoAnswer(url);
  if (!response.ok) throw new UsageError(`${url} answered ${response.status}`);
  return parseExportKeys(await response.text(), url);
}

/** Reads the published keys from a file, or fetches them if no file is given. */
export const readExportKeys = async (
  file: string | undefined,
  baseUrl: () => Promise<string>,
): Promise<PublishedExportKeys> =>
  file === undefined ? fetchExportKeys(await baseUrl()) : parseExportKeys(await readTextInput(file), file);

/** Fetches a URL. Throws NoAnswer for an outage. */
export async function fetchOrNoAnswer(url: string): Promise<Response> {
  const { origin } = new URL(url);
  const response = await fetch(url).catch((error: unknown) => {
    throw new NoAnswer(`no answer from ${origin}: ${(error as Error).message}`, error);
  });
  if (response.status >= 500) throw new NoAnswer(`${origin} answered ${response.status}`);
  return response;
}

export interface VerifiedArchive {
  readonly manifest: ArchiveManifest;
  /** The differences from the manifest; empty if the archive is complete and unchanged. */
  readonly problems: readonly string[];
}

function signatureProblem(manifest: Buffer, signature: Buffer, keyId: string, { keys }: PublishedExportKeys) {
  const key = keys.find(({ kid }) => kid === keyId);
  if (key === undefined) return `manifest.json is signed with the key ${keyId}, which is not published`;
  if (verify(null, manifest, createPublicKey(key.pem), signature)) return undefined;
  return 'the signature of manifest.json is wrong';
}

/**
 * Reads a whole archive, and compares it with its manifest and the manifest with its signature. The signature is not
 * checked if `keys` is null.
 */
export async function verifyArchive(
  path: string,
  keys: PublishedExportKeys | null,
): Promise<VerifiedArchive> {
  const found = new Map<string, { readonly size: number; readonly sha256: string }>();
  const signed = new Map<string, Buffer>();
  const problems: string[] = [];
  for await (const entry of readArchive(path)) {
    if (found.has(entry.name) || signed.has(entry.name))
      problems.push(`the archive contains ${entry.name} twice`);
    if (entry.name === manifestFileName || entry.name === manifestSignatureFileName) {
      signed.set(entry.name, await contentOf(entry));
      continue;
    }
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of entry.content) {
      size += chunk.length;
      hash.update(chunk);
    }
    found.set(entry.name, { size, sha256: hash.digest('hex') });
  }
  const [text, signature] = [signed.get(manifestFileName), signed.get(manifestSignatureFileName)];
  if (text === undefined || signature === undefined)
    throw new UsageError(`${path} has no signed manifest, so it is not an export of Muster`);
  const manifest = parseManifest(text, path);
  const wrong = keys === null ? undefined : signatureProblem(text, signature, manifest.keyId, keys);
  if (wrong !== undefined) problems.push(wrong);
  for (const { name, size, sha256 } of manifest.files) {
    const file = found.get(name);
    if (file === undefined) problems.push(`${name} is missing`);
    else if (file.size !== size || file.sha256 !== sha256) problems.push(`${name} was changed`);
    found.delete(name);
  }
  problems.push(...[...found.keys()].map((name) => `${name} is not in the manifest`));
  return { manifest, problems };
}

function parseManifest(text: Buffer, path: string): ArchiveManifest {
  try {
    return ArchiveManifest.parse(JSON.parse(text.toString()));
  } catch {
    throw new UsageError(`the manifest of ${path} cannot be read; it may be of a newer release`);
  }
}
