/**
 * Writes the archive of an export in parts. A part is stored and recorded before the next one begins. A worker that is
 * killed therefore loses one part at most, and another worker continues after the last one. Memory is bounded by a page
 * of records and a few megabytes of lines.
 */
import { createHash, sign } from 'node:crypto';
import { type PlainDb, newId, type Pool } from '@muster/driver';
import {
  archiveFileName,
  archiveFormatVersion,
  type ArchiveManifest,
  archiveRecordTypes,
  attachmentFileName,
  type ExportFailure,
  manifestFileName,
  manifestSignatureFileName,
  productVersion,
} from '@muster/contract';
import {
  type ArchiveReaders,
  type ArchiveSelection,
  inOrganizationAsSystem,
  outboxRow,
} from '@muster/tenancy';
import { exportedFilesQuery } from '../data/archive.ts';
import { loadExportKeys } from '../data/export-keys.ts';
import {
  addStoredPart,
  type ArchivedFile,
  beginRunQueries,
  type ExportRow,
  failExportQueries,
  getManifestNames,
  insertPendingPart,
  listArchivedFiles,
  listParts,
  lockExport,
} from '../data/exports.ts';
import { withReceivedFile } from '../receive.ts';
import { tarEndMarker, tarHeader, tarPadding } from '../rules/tar.ts';
import { fileKey, type FileStorage } from '../storage/storage.ts';
import { openPartFile, type PartFile } from './part-file.ts';
import {
  estimateProgress,
  ExportPosition,
  filesStep,
  firstPosition,
  manifestStep,
  nextStep,
} from './position.ts';
import { hashParts } from './read-parts.ts';

export interface ExportContext {
  /** The pool of the primary database. */
  readonly pool: Pool;
  readonly storage: FileStorage | undefined;
  readonly readers: ArchiveReaders;
  readonly secretsKeys: readonly string[];
  /** The public URL of the installation. */
  readonly baseUrl: string;
  /** Called with the error of a run, which the export shows only as a reason. */
  readonly onError: (error: unknown, exportId: string) => void;
  /** The limits of a run and of a part; the defaults suit the timeout of the job. */
  readonly limits?: Partial<ExportLimits>;
}

interface ExportLimits {
  /** After this time, a run stops at the next part, and another run continues. */
  readonly runMillis: number;
  /** A part ends at this size, before compression. */
  readonly partBytes: number;
  /** A type with more bytes of lines is written in several parts. */
  readonly bufferBytes: number;
}
const defaultLimits: ExportLimits = {
  runMillis: 8_000,
  partBytes: 32 * 1024 * 1024,
  bufferBytes: 4 * 1024 * 1024,
};

/** The number of runs without progress after which an export fails. */
const maxAttempts = 5;
const retryDelayMillis = 5_000;

/** A run of the job, which writes some parts of an export. */
interface ExportRun {
  readonly orgId: string;
  readonly exportId: string;
  readonly writer: string;
  readonly row: ExportRow;
}

/** Thrown if another run replaced this one. */
class ReplacedRunError extends Error {
  constructor() {
    super('another run writes this export');
  }
}

/** Thrown if the storage of files cannot be used. */
class StorageError extends Error {}

type FinishRun = (db: PlainDb) => Promise<void>;

/**
 * Prepares a run in the transaction of its job. Returns the function that does the work, and undefined if there is
 * nothing to do. The work returns the function that writes its outcome.
 */
export async function prepareExportRun(
  context: ExportContext,
  { db, orgId }: { readonly db: PlainDb; readonly orgId: string },
  exportId: string,
): Promise<((signal: AbortSignal) => Promise<FinishRun>) | undefined> {
  const row = await lockExport(db, exportId);
  if (row === undefined || (row.state !== 'queued' && row.state !== 'running')) return undefined;
  const { storage } = context;
  if (storage === undefined || row.attempts >= maxAttempts) {
    const failure = storage === undefined ? 'storage_missing' : 'internal';
    for (const query of failExportQueries(exportId, failure)) db.deferToCommit(query);
    return undefined;
  }
  const run: ExportRun = { orgId, exportId, writer: newId(), row };
  for (const query of beginRunQueries(exportId, run.writer)) db.deferToCommit(query);
  return (signal) => writeParts({ ...context, storage }, run, signal);
}

interface WriterContext extends ExportContext {
  readonly storage: FileStorage;
}

/** Writes parts until the archive is complete or the time of the run is over. */
async function writeParts(context: WriterContext, run: ExportRun, signal: AbortSignal): Promise<FinishRun> {
  const { exportId, row } = run;
  const limits = { ...defaultLimits, ...context.limits };
  const endsAt = performance.now() + limits.runMillis;
  try {
    let position: ExportPosition | null =
      row.position === null ? firstPosition : ExportPosition.parse(row.position);
    do {
      signal.throwIfAborted();
      position = await writePart({ context, run, limits, endsAt }, position);
    } while (position !== null && performance.now() < endsAt);
    const isComplete = position === null;
    return async (db) => {
      if (!isComplete) db.deferToCommit(outboxRow('export.write', { exportId }));
    };
  } catch (error) {
    if (error instanceof ReplacedRunError || signal.aborted) throw error;
    context.onError(error, exportId);
    return retryOrFail(run, error instanceof StorageError ? 'storage_unavailable' : 'internal');
  }
}

/** Returns the outcome of a run with an error: another run, or the failure of the export. */
function retryOrFail({ exportId, row }: ExportRun, failure: ExportFailure): FinishRun {
  const attempts = row.attempts + 1;
  return async (db) => {
    if (attempts >= maxAttempts)
      for (const query of failExportQueries(exportId, failure)) db.deferToCommit(query);
    else {
      const dueAt = new Date(Date.now() + attempts * retryDelayMillis).toISOString();
      db.deferToCommit(outboxRow('export.write', { exportId }, dueAt));
    }
  };
}

/** The dependencies of the steps that write a part. */
interface PartContext {
  readonly context: WriterContext;
  readonly run: ExportRun;
  readonly limits: ExportLimits;
  readonly endsAt: number;
}

/** A part while it is written. */
interface OpenPart extends PartContext {
  readonly part: PartFile;
  readonly files: ArchivedFile[];
  readonly selection: ArchiveSelection;
  /** The position of the part in the archive. */
  readonly place: number;
  records: number;
}

const isFull = ({ part, limits, endsAt }: OpenPart): boolean =>
  part.rawBytes() >= limits.partBytes || (part.rawBytes() > 0 && performance.now() >= endsAt);

const read = <Result>(
  { context, run }: PartContext,
  work: (db: PlainDb) => Promise<Result>,
): Promise<Result> => inOrganizationAsSystem(context.pool, run.orgId, work);

/** Writes and stores one part. Returns where the next one continues; null after the last part. */
async function writePart(at: PartContext, position: ExportPosition): Promise<ExportPosition | null> {
  const { context, run } = at;
  const { row } = run;
  const part = await wrapStorageErrors(
    openPartFile(context.storage.incomingFolder, new Date(row.started_at)),
  );
  const place = position.split?.isComplete === true ? position.split.header : position.part;
  const open: OpenPart = {
    ...at,
    ...{ part, place, files: [], records: 0 },
    selection: {
      ...{ scope: row.scope, projectId: row.project_id, memberId: row.member_id, startedAt: row.started_at },
    },
  };
  try {
    const next = await fillPart(open, position);
    // A type that needs several parts begins with a part of its own, also if this one is still empty.
    if (part.rawBytes() === 0 && next !== null) return await writePart(at, next);
    await storePart(open, next);
    return next;
  } finally {
    await part.discard();
  }
}

async function fillPart(open: OpenPart, position: ExportPosition): Promise<ExportPosition | null> {
  if (position.split !== null) {
    const { split } = position;
    return split.isComplete
      ? writeSplitHeader(open, position, split)
      : writeSplitContent(open, position, split);
  }
  let next = position;
  while (!isFull(open)) {
    if (next.step === manifestStep) {
      await writeManifest(open);
      return null;
    }
    if (next.step === filesStep) next = await writeFiles(open, next);
    else {
      const content = await readWholeType(open, next.step);
      if (content === undefined) {
        // The part ends here. Its number, or the next one, is kept free for the header.
        const header = open.part.rawBytes() > 0 ? open.place + 1 : open.place;
        return { ...next, part: header + 1, split: { header, size: 0, records: 0, isComplete: false } };
      }
      await writeType(open, next.step, content);
      next = nextStep(next);
    }
  }
  return { ...next, part: open.place + 1 };
}

const typeOfStep = (step: number) => {
  const type = archiveRecordTypes[step];
  if (type === undefined) throw new Error(`no type of records belongs to step ${step}`);
  return type;
};

/** Reads the page of a type after a key, as lines. */
async function readLines(open: OpenPart, step: number, key: ExportPosition['key']) {
  const reader = open.context.readers[typeOfStep(step)];
  if (reader === undefined) throw new Error(`no reader of ${typeOfStep(step)}`);
  const { lines, nextKey: next } = await read(open, (db) => reader(db, open.selection, key));
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return { bytes: Buffer.from(text), count: lines.length, next: next === null ? null : [...next] };
}

interface TypeContent {
  readonly bytes: Buffer;
  readonly count: number;
}

/** Reads all records of a type into memory. Returns undefined if they are too many for that. */
async function readWholeType(open: OpenPart, step: number): Promise<TypeContent | undefined> {
  const pages: Buffer[] = [];
  let [size, count] = [0, 0];
  let key: ExportPosition['key'] = null;
  do {
    const page = await readLines(open, step, key);
    pages.push(page.bytes);
    size += page.bytes.length;
    count += page.count;
    if (size > open.limits.bufferBytes && page.next !== null) return undefined;
    key = page.next;
  } while (key !== null);
  return { bytes: Buffer.concat(pages), count };
}

async function writeType(open: OpenPart, step: number, { bytes, count }: TypeContent): Promise<void> {
  const name = archiveFileName(typeOfStep(step));
  await open.part.writeEntry(name, bytes);
  addFile(open, { name, size: bytes.length, sha256: sha256Of(bytes), records: count });
  open.records += count;
}

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const addFile = ({ files, place }: OpenPart, file: Omit<ArchivedFile, 'position'>): void => {
  files.push({ ...file, position: place });
};

type SplitFile = NonNullable<ExportPosition['split']>;

/** Writes a part of the records of a type that has several parts. */
async function writeSplitContent(
  open: OpenPart,
  position: ExportPosition,
  split: SplitFile,
): Promise<ExportPosition> {
  const { part, place } = open;
  let { key } = position;
  do {
    const page = await readLines(open, position.step, key);
    await part.write(page.bytes);
    open.records += page.count;
    key = page.next;
  } while (key !== null && !isFull(open));
  const size = split.size + part.rawBytes();
  const records = split.records + open.records;
  if (key === null) await part.write(tarPadding(size));
  return { ...position, key, part: place + 1, split: { ...split, size, records, isComplete: key === null } };
}

/** Writes the header of a type that has several parts. They are read again for its digest. */
async function writeSplitHeader(
  open: OpenPart,
  position: ExportPosition,
  { header, size, records }: SplitFile,
): Promise<ExportPosition> {
  const { context, run, part } = open;
  const range = { from: header + 1, beforePosition: position.part };
  const ids = await read(open, (db) => listParts(db, run.exportId, range));
  const sha256 = await wrapStorageErrors(hashParts(context.storage, run.orgId, ids, size));
  const name = archiveFileName(typeOfStep(position.step));
  await part.write(tarHeader(name, size, new Date(run.row.started_at)));
  addFile(open, { name, size, sha256, records });
  return nextStep(position);
}

/** Writes attached files until the part is full. */
async function writeFiles(open: OpenPart, position: ExportPosition): Promise<ExportPosition> {
  const { context, run, part } = open;
  const { storage } = context;
  const page = await read(open, (db) => db.all(exportedFilesQuery(open.selection, position.key)));
  let last = position;
  for (const file of page) {
    const name = attachmentFileName(file.id);
    const content = await wrapStorageErrors(storage.open(fileKey(run.orgId, file.id)));
    let sha256: string | null = null;
    if (content !== undefined)
      await wrapStorageErrors(
        withReceivedFile(storage.incomingFolder, content, async (received) => {
          // A file that is not the one that was attached is reported as missing.
          if (received.sha256 !== file.sha256) return;
          await part.writeFileEntry(name, received);
          sha256 = received.sha256;
        }),
      );
    addFile(open, { name, size: file.size, sha256, records: 0 });
    last = { ...last, key: [file.id] };
    if (isFull(open)) return last;
  }
  return page.length === 0 ? nextStep(last) : last;
}

/** Writes the manifest with its signature, and the end of the archive. */
async function writeManifest(open: OpenPart): Promise<void> {
  const { context, run, part, files } = open;
  const { row, exportId } = run;
  const [written, names, [key]] = await Promise.all([
    read(open, (db) => listArchivedFiles(db, exportId)),
    read(open, (db) => getManifestNames(db, row.project_id)),
    loadExportKeys(context.pool, context.secretsKeys),
  ]);
  const all = [...written, ...files];
  const isRead = (file: ArchivedFile): file is ArchivedFile & { sha256: string } => file.sha256 !== null;
  const manifest: ArchiveManifest = {
    format: 'muster-export',
    formatVersion: archiveFormatVersion,
    exportId,
    scope: row.scope,
    ...names,
    requestedBy: row.requested_by,
    startedAt: row.started_at,
    completedAt: new Date().toISOString(),
    source: context.baseUrl,
    productVersion,
    keyId: key.published.kid,
    counts: Object.fromEntries(
      archiveRecordTypes.map((type) => [
        type,
        all.find(({ name }) => name === archiveFileName(type))?.records ?? 0,
      ]),
    ),
    files: all.filter(isRead).map(({ name, size, sha256 }) => ({ name, size, sha256 })),
    missing: all.filter((file) => !isRead(file)).map(({ name }) => name.slice(attachmentFileName('').length)),
  };
  const bytes = Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`);
  await part.writeEntry(manifestFileName, bytes);
  await part.writeEntry(manifestSignatureFileName, sign(null, bytes, key.privateKey));
  await part.write(tarEndMarker);
}

/** Stores a part, and records where the next one continues. */
async function storePart(open: OpenPart, next: ExportPosition | null): Promise<void> {
  const { context, run, part, place, files, records } = open;
  const file = await wrapStorageErrors(part.finish());
  const id = newId();
  const isPending = await read(open, (db) => insertPendingPart(db, run, { id, position: place }));
  if (!isPending) throw new ReplacedRunError();
  await wrapStorageErrors(context.storage.put(fileKey(run.orgId, id), file));
  const progress =
    next === null ? 100 : estimateProgress(next, { orgId: run.orgId, startedAt: run.row.started_at });
  const isStored = await read(open, (db) =>
    addStoredPart(db, run, { id, size: file.size, files, records, progress, position: next }),
  );
  if (!isStored) throw new ReplacedRunError();
}

/** Awaits an access to the storage, and marks its error as one of the storage. */
async function wrapStorageErrors<Result>(access: Promise<Result>): Promise<Result> {
  try {
    return await access;
  } catch (error) {
    throw new StorageError('the storage of files failed', { cause: error });
  }
}
