/** Receives and serves the files of attachments at their signed addresses, which need no token. */
import { readFile } from 'node:fs/promises';
import { type Readable } from 'node:stream';
import { type Pool } from '@muster/driver';
import {
  type ApiError,
  internalOperations,
  isUuid,
  maxAttachmentBytes,
  maxChangesBytes,
  notFound,
  refusal,
  serviceUnavailable,
  type TestReport,
  unauthorized,
} from '@muster/contract';
import { type HandlerEnvironment, runAsSystem } from '@muster/runtime';
import { inOrganizationAsSystem, systemAuditFacts } from '@muster/tenancy';
import { getAttachmentSubject } from './data/attachments.ts';
import { type FileAtAddress, findFile, lockAttachmentState, markStored } from './data/files.ts';
import { readTestReport } from './reports/parse.ts';
import { fileTooLargeError, withReceivedFile } from './receive.ts';
import { type FileMethod, isValidSignature } from './rules/addresses.ts';
import { type RangeHeaders, requestedRange } from './rules/byte-range.ts';
import { downloadHeaders } from './rules/download-headers.ts';
import { type FileScanner } from './scan.ts';
import { fileKey, type FileStorage, type ReceivedFile } from './storage/storage.ts';

export interface FilesContext {
  readonly pool: Pool;
  readonly storage: FileStorage | undefined;
  readonly environment: HandlerEnvironment;
  /** Undefined if uploads are not scanned for viruses. */
  readonly scanner?: FileScanner | undefined;
  /** Called with errors of the storage and of the scanner, which callers see only as 503. */
  readonly onStorageError: (error: unknown) => void;
}

/** The parts of a requested address, which may be forged. */
export interface RequestedAddress {
  readonly method: FileMethod;
  readonly orgId: string;
  readonly attachmentId: string;
  readonly expires: string;
  readonly signature: string;
}

/** Finds the file of an address. Throws 401 if the address was not issued or has expired, and 404 without a file. */
async function requireFile(pool: Pool, address: RequestedAddress): Promise<FileAtAddress> {
  const { method, orgId, attachmentId, expires, signature } = address;
  if (!isUuid(orgId) || !isUuid(attachmentId) || !/^\d{1,15}$/.test(expires))
    throw unauthorized('file_signature');
  const file = await findFile(pool, orgId, attachmentId);
  if (file === undefined) throw notFound();
  const said = { method, orgId, attachmentId, expiresAtMillis: Number(expires) };
  if (!isValidSignature(file.organization_key, said, signature, Date.parse(file.now)))
    throw unauthorized('file_signature');
  return file;
}

export function requireStorage({ storage }: FilesContext): FileStorage {
  if (storage === undefined) throw serviceUnavailable('files_away', 'No storage of files is configured.');
  return storage;
}

/** Awaits an access to the storage. Reports its error, and throws 503. */
async function throwUnavailableOnError<Result>(
  { onStorageError }: FilesContext,
  access: Promise<Result>,
): Promise<Result> {
  try {
    return await access;
  } catch (error) {
    onStorageError(error);
    throw serviceUnavailable('files_away');
  }
}

export interface Upload {
  readonly address: RequestedAddress;
  /** The length that the request states; undefined if it states none. */
  readonly contentLength: number | undefined;
  readonly body: Readable;
}

const createMismatchError = (file: FileAtAddress, received: Partial<ReceivedFile>): ApiError =>
  refusal('upload_mismatch', {
    expected: { size: file.size, sha256: file.sha256 },
    received: { size: received.size ?? null, sha256: received.sha256 ?? null },
  });

/** Receives a file. A repeated upload has no effect, and an upload that fails leaves the attachment pending. */
export async function receiveFile(
  context: FilesContext,
  { address, contentLength, body }: Upload,
): Promise<void> {
  const { pool } = context;
  const file = await requireFile(pool, address);
  if (file.is_archived) throw refusal('archived');
  if (contentLength !== undefined && contentLength > maxAttachmentBytes) throw fileTooLargeError();
  if (contentLength !== undefined && contentLength !== file.size)
    throw createMismatchError(file, { size: contentLength });
  const storage = requireStorage(context);
  await withReceivedFile(storage.incomingFolder, body, async (received) => {
    if (received.size !== file.size || received.sha256 !== file.sha256)
      throw createMismatchError(file, received);
    if (file.state === 'stored') return;
    if (await isInfected(context, received)) throw refusal('upload_infected');
    const content: FileContent = {
      report: file.kind === 'test_report' ? await readTestReport(received) : null,
      diff: await readDiff(file, received),
    };
    const key = fileKey(address.orgId, file.id);
    await throwUnavailableOnError(context, storage.put(key, received));
    if (!(await publish(context, address.orgId, file, content))) {
      await throwUnavailableOnError(context, storage.remove(key));
      throw notFound();
    }
  });
}

/** Scans a received file. Throws 503 if the scanner is unavailable, and the attachment stays pending. */
async function isInfected({ scanner, onStorageError }: FilesContext, file: ReceivedFile): Promise<boolean> {
  try {
    return scanner !== undefined && (await scanner(file));
  } catch (error) {
    onStorageError(error);
    throw serviceUnavailable('scanner_away');
  }
}

/** The data that Muster reads from the content of a file. */
interface FileContent {
  readonly report: TestReport | null;
  /** The diff of the work of an execution; null if the file is none. */
  readonly diff: { readonly executionId: string; readonly headSha: string; readonly text: string } | null;
}

/** Reads the diff that a runner uploads for the head of its work. */
async function readDiff(
  { kind, execution_id: executionId, head_sha: headSha }: FileAtAddress,
  { path, size }: ReceivedFile,
): Promise<FileContent['diff']> {
  // A shortened head could stand for another one.
  const isWholeHead = headSha !== null && /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(headSha);
  if (kind !== 'diff' || executionId === null || !isWholeHead || size > maxChangesBytes) return null;
  return { executionId, headSha, text: await readFile(path, 'utf8') };
}

/** Makes a stored file visible. Returns false if its attachment was deleted while the file arrived. */
const publish = (
  { pool, environment }: FilesContext,
  orgId: string,
  file: FileAtAddress,
  { report, diff }: FileContent,
): Promise<boolean> =>
  inOrganizationAsSystem(pool, orgId, async (db) => {
    const state = await lockAttachmentState(db, file.id);
    if (state !== 'pending') return state === 'stored';
    const facts = systemAuditFacts('attachments.upload', file.id);
    await runAsSystem({ db, orgId, actor: file.author, facts }, environment, async (perform, emit) => {
      const subject = await getAttachmentSubject(db, file.id);
      db.deferToCommit(markStored(file.id, report));
      if (diff !== null)
        await perform(
          internalOperations.storeChanges,
          { id: diff.executionId, projectId: file.project_id },
          {
            ...{ executionId: diff.executionId, headSha: diff.headSha, baseSha: null, source: 'runner' },
            ...{ attachmentId: file.id, reported: diff.text },
          },
        );
      emit({
        kind: 'attachment.added',
        subject,
        data: { attachmentId: file.id, name: file.name, attachmentKind: file.kind },
      });
    });
    return true;
  });

export interface Download {
  readonly status?: 206;
  readonly headers: Readonly<Record<string, string>>;
  readonly content: Readable;
}

/** Opens a file, or the requested part of it, for a download. */
export async function openFile(
  context: FilesContext,
  address: RequestedAddress,
  rangeHeaders: RangeHeaders = {},
): Promise<Download> {
  const file = await requireFile(context.pool, address);
  if (file.state !== 'stored') throw notFound();
  const etag = `"${file.sha256}"`;
  const range = requestedRange(rangeHeaders, { size: file.size, etag });
  const key = fileKey(address.orgId, file.id);
  const content = await throwUnavailableOnError(context, requireStorage(context).open(key, range));
  if (content === undefined) throw serviceUnavailable('files_away');
  const headers = { ...downloadHeaders(file), etag, 'accept-ranges': 'bytes' };
  if (range === undefined) return { headers, content };
  const { start, end } = range;
  const part = {
    'content-length': String(end - start + 1),
    'content-range': `bytes ${start}-${end}/${file.size}`,
  };
  return { status: 206, headers: { ...headers, ...part }, content };
}
