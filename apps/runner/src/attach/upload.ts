/** Uploads files of this machine as attachments. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client } from '@muster/client';
import {
  type Attachment,
  AttachmentName,
  type AttachmentKind,
  maxAttachmentBytes,
  type InputOf,
  type Registry,
} from '@muster/registry';
import { UsageError } from '@muster/terminal';
import { guessKind, mediaTypeOf } from './kinds.ts';

type CreateInput = InputOf<Registry['attachments']['create']>;
export type AttachmentTargetRef = Pick<CreateInput, 'targetType' | 'targetId'>;

/** The content of a file that will be attached. It is read once, so that its digest is that of the upload. */
export interface FileToAttach {
  readonly name: string;
  readonly content: Buffer<ArrayBuffer>;
  readonly kind: AttachmentKind;
}

/** A file that cannot be attached. */
export class UnsuitableFileError extends UsageError {}

/**
 * Reads a file. With `root`, the file must be inside of that folder, also after symbolic links are resolved: an
 * agent that works there must not be able to attach other files of the machine.
 */
export async function readFileToAttach(
  file: string,
  { kind, root }: { readonly kind?: AttachmentKind | undefined; readonly root?: string } = {},
): Promise<FileToAttach> {
  const name = path.basename(file);
  if (!AttachmentName.safeParse(name).success) throw new UnsuitableFileError(`${file} has an invalid name`);
  const place = await realpath(file).catch(() => file);
  if (root !== undefined && !place.startsWith(`${await realpath(root)}${path.sep}`))
    throw new UnsuitableFileError(`${file} is a link to a file outside of ${root}`);
  let handle;
  try {
    // A FIFO would block without O_NONBLOCK.
    handle = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw new UnsuitableFileError(`${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    const status = await handle.stat();
    if (!status.isFile()) throw new UnsuitableFileError(`${file} is not a regular file`);
    if (status.size > maxAttachmentBytes)
      throw new UnsuitableFileError(`${file} has more than ${maxAttachmentBytes / 1024 ** 2} MiB`);
    const content = Buffer.alloc(status.size);
    const { bytesRead } = await handle.read(content, 0, status.size, 0);
    return { name, content: content.subarray(0, bytesRead), kind: kind ?? guessKind(file) };
  } finally {
    await handle.close();
  }
}

/** The delays before an upload is repeated, in milliseconds. They cover a restart of the API or its storage. */
const defaultRetryDelaysMs = [500, 1_000, 2_000, 5_000, 10_000, 20_000];
const uploadTimeoutMs = 120_000;

/** Statuses after which the same upload can succeed later. */
const isTemporary = (status: number): boolean => status >= 500 || status === 429 || status === 408;

async function messageOf(response: Response): Promise<string> {
  const body = (await response.json().catch(() => ({}))) as { readonly message?: unknown };
  return typeof body.message === 'string' ? body.message : `the upload was answered with ${response.status}`;
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
    let trouble: string;
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
      trouble = await messageOf(response);
      if (!isTemporary(response.status)) throw new UnsuitableFileError(trouble);
    } catch (error) {
      if (error instanceof UnsuitableFileError) throw error;
      trouble = (error as Error).message;
    }
    const delay = retryDelaysMs[attempt];
    if (delay === undefined) throw new Error(`the file was not uploaded: ${trouble}`);
    await pause(delay, undefined, { signal });
  }
}

/** Attaches a file and waits until it is stored. */
export async function uploadFile(
  client: Client,
  target: AttachmentTargetRef,
  { name, content, kind }: FileToAttach,
  options: UploadOptions = {},
): Promise<Attachment> {
  const { headSha, idempotencyKey } = options;
  const sha256 = createHash('sha256').update(content).digest('hex');
  const { attachment, upload } = await client.attachments.create(
    {
      ...{ ...target, name, kind, size: content.length, sha256, contentType: mediaTypeOf(name) },
      ...(headSha !== undefined && { headSha }),
    },
    { ...(idempotencyKey !== undefined && { idempotencyKey }) },
  );
  await putContent(upload, content, options);
  return attachment;
}
