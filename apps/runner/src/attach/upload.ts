/** Uploads files of this machine as attachments. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, errorBodyIn, errorOf, NoAnswer } from '@muster/client';
import {
  type Attachment,
  AttachmentName,
  type AttachmentKind,
  maxAttachmentBytes,
  type InputOf,
} from '@muster/contract';
import { type AttachmentsRegistry } from '@muster/attachments-registry';
import { UsageError } from '@muster/terminal';
import { guessKind, mediaTypeOf } from './kinds.ts';

type CreateInput = InputOf<AttachmentsRegistry['attachments']['create']>;
export type AttachmentTargetRef = Pick<CreateInput, 'targetType' | 'targetId'>;

/** The content of a file that will be attached. It is read once, so that its digest is that of the upload. */
export interface FileToAttach {
  readonly name: string;
  readonly content: Buffer<ArrayBuffer>;
  readonly sha256: string;
  readonly kind: AttachmentKind;
}

export const toFileToAttach = (
  name: string,
  content: Buffer<ArrayBuffer>,
  kind: AttachmentKind,
): FileToAttach => ({ name, content, sha256: createHash('sha256').update(content).digest('hex'), kind });

/**
 * Opens a file that can be attached. With `root`, the file must be inside of that folder, also after symbolic links are
 * resolved: an agent that works there must not be able to attach other files of the machine.
 */
async function openFile(file: string, root?: string): Promise<{ handle: FileHandle; size: number }> {
  if (!AttachmentName.safeParse(path.basename(file)).success)
    throw new UsageError(`${file} has an invalid name`);
  const place = await realpath(file).catch(() => file);
  if (root !== undefined && !place.startsWith(`${await realpath(root)}${path.sep}`))
    throw new UsageError(`${file} is a link to a file outside of ${root}`);
  // A FIFO would block without O_NONBLOCK.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(place, flags).catch((error: unknown) => {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  });
  try {
    const status = await handle.stat();
    if (!status.isFile()) throw new UsageError(`${file} is not a regular file`);
    if (status.size > maxAttachmentBytes)
      throw new UsageError(`${file} has more than ${maxAttachmentBytes / 1024 ** 2} MiB`);
    return { handle, size: status.size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Throws UsageError for a file that cannot be attached. */
export async function requireAttachable(file: string): Promise<void> {
  const { handle } = await openFile(file);
  await handle.close();
}

/** Reads a file. `root` is the folder in which the file must be. */
export async function readFileToAttach(
  file: string,
  { kind, root }: { readonly kind?: AttachmentKind | undefined; readonly root?: string } = {},
): Promise<FileToAttach> {
  const { handle, size } = await openFile(file, root);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0);
    return toFileToAttach(path.basename(file), buffer.subarray(0, bytesRead), kind ?? guessKind(file));
  } finally {
    await handle.close();
  }
}

/** The delays before an upload is repeated, in milliseconds. They cover a restart of the API or its storage. */
const defaultRetryDelaysMs = [500, 1_000, 2_000, 5_000, 10_000, 20_000];
const uploadTimeoutMs = 120_000;

/** Statuses after which the same upload can succeed later. */
const isTemporary = (status: number): boolean => status >= 500 || status === 429 || status === 408;

async function failureOf(response: Response): Promise<Error> {
  const body = errorBodyIn(await response.json().catch(() => undefined));
  return body === undefined
    ? new NoAnswer(`the file was not uploaded: the storage answered ${response.status}`)
    : errorOf(body);
}

/** Rejects as soon as the signal is aborted. The work itself continues. */
async function unlessAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => {
    reject(signal.reason as Error);
  };
  signal.addEventListener('abort', onAbort);
  return Promise.race([work, promise]).finally(() => {
    signal.removeEventListener('abort', onAbort);
  });
}

export interface UploadOptions {
  readonly headSha?: string | undefined;
  /** Identifies the file, so that a repeated call attaches it once. */
  readonly idempotencyKey?: string;
  /** The delays before the upload is repeated after a temporary failure, in milliseconds. */
  readonly retryDelaysMs?: readonly number[];
  /** Stops waiting for the API or its storage. */
  readonly signal?: AbortSignal;
}

/** Sends the content to its signed address, again after temporary failures. Repeating an upload has no effect. */
export async function putContent(
  { url, headers }: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  content: Buffer<ArrayBuffer>,
  { retryDelaysMs = defaultRetryDelaysMs, signal }: Pick<UploadOptions, 'retryDelaysMs' | 'signal'>,
): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    signal?.throwIfAborted();
    let failure: Error;
    let isFinal = false;
    try {
      const timeout = AbortSignal.timeout(uploadTimeoutMs);
      const response = await fetch(url, {
        ...{ method: 'PUT', body: content, headers },
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      if (response.ok) {
        await response.body?.cancel();
        return;
      }
      failure = await failureOf(response);
      isFinal = !isTemporary(response.status);
    } catch (error) {
      failure = new NoAnswer(`the file was not uploaded: ${(error as Error).message}`, error);
    }
    const delay = isFinal ? undefined : retryDelaysMs[attempt];
    if (delay === undefined) throw failure;
    await pause(delay, undefined, { signal });
  }
}

/** Attaches a file and waits until it is stored. */
export async function uploadFile(
  client: Client,
  target: AttachmentTargetRef,
  { name, content, sha256, kind }: FileToAttach,
  options: UploadOptions = {},
): Promise<Attachment> {
  const { headSha, idempotencyKey, signal } = options;
  signal?.throwIfAborted();
  const creation = client.attachments.create(
    {
      ...{ ...target, name, kind, size: content.length, sha256, contentType: mediaTypeOf(name) },
      ...(headSha !== undefined && { headSha }),
    },
    { ...(idempotencyKey !== undefined && { idempotencyKey }) },
  );
  const { attachment, upload } = await unlessAborted(creation, signal);
  await putContent(upload, content, options);
  return attachment;
}
