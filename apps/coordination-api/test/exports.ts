/** Writes exports as the worker does, and reads the archives that the API serves. */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { createFolderStorage, type ExportContext, prepareExportRun } from '@muster/attachments';
import { type AllHandlers, archiveReaders } from '@muster/operations';
import {
  type ArchiveManifest,
  type ArchiveRecord,
  archiveRecords,
  type ArchiveRecordType,
  exportKeysPath,
} from '@muster/contract';
import { inOrganizationAsSystem } from '@muster/tenancy';
import { type World } from '@muster/testing';
import { type ApiInstance } from './api.ts';

export type WriteOptions = Partial<Omit<ExportContext, 'pool' | 'readers'>> & { readonly folder: string };

const contextOf = (world: World<AllHandlers>, { folder, ...options }: WriteOptions): ExportContext => ({
  ...{ pool: world.database.app, storage: createFolderStorage(folder), readers: archiveReaders },
  ...{ secretsKeys: [], baseUrl: 'http://127.0.0.1:4100' },
  onError: (error) => {
    throw error;
  },
  ...options,
});

/** Runs the job once. Returns false if there was nothing left to do. */
export async function runExport(
  world: World<AllHandlers>,
  orgId: string,
  exportId: string,
  options: WriteOptions,
): Promise<boolean> {
  const context = contextOf(world, options);
  const work = await inOrganizationAsSystem(context.pool, orgId, (db) =>
    prepareExportRun(context, { db, orgId }, exportId),
  );
  if (work === undefined) return false;
  const finish = await work(new AbortController().signal);
  await inOrganizationAsSystem(context.pool, orgId, finish);
  return true;
}

/** Runs the job until the export is done or failed. Returns the number of runs. */
export async function writeExport(
  world: World<AllHandlers>,
  orgId: string,
  exportId: string,
  options: WriteOptions,
): Promise<number> {
  let runs = 0;
  while (await runExport(world, orgId, exportId, options)) runs += 1;
  return runs;
}

/** Reads the entries of a tar file. It is small, and was written by us. */
function entriesOf(tar: Buffer): Map<string, Buffer> {
  const entries = new Map<string, Buffer>();
  let at = 0;
  while (tar[at] !== 0) {
    const name = tar.toString('utf8', at, tar.indexOf(0, at));
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8);
    entries.set(name, tar.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return entries;
}

export interface OpenArchive {
  readonly entries: ReadonlyMap<string, Buffer>;
  readonly manifest: ArchiveManifest;
  /** Returns the records of a type, each checked against its schema. */
  readonly records: <Type extends ArchiveRecordType>(type: Type) => ArchiveRecord<Type>[];
  /** Returns the whole text of the records. */
  readonly text: string;
}

/** Opens a downloaded archive, and checks its digests and its signature with the published keys. */
export async function openArchive(api: ApiInstance, archive: Buffer): Promise<OpenArchive> {
  const entries = entriesOf(gunzipSync(archive));
  const contentOf = (name: string): Buffer => {
    const content = entries.get(name);
    if (content === undefined) throw new Error(`the archive has no ${name}`);
    return content;
  };
  const manifest = JSON.parse(contentOf('manifest.json').toString()) as ArchiveManifest;
  for (const { name, size, sha256 } of manifest.files) {
    const content = contentOf(name);
    const found = createHash('sha256').update(content).digest('hex');
    if (content.length !== size || found !== sha256)
      throw new Error(`${name} is not the file of the manifest`);
  }
  const { body } = await api.request(exportKeysPath, { method: 'GET' });
  const key = (body['keys'] as { kid: string; pem: string }[]).find(({ kid }) => kid === manifest.keyId);
  if (key === undefined) throw new Error('the key of the manifest is not published');
  if (!verify(null, contentOf('manifest.json'), createPublicKey(key.pem), contentOf('manifest.sig')))
    throw new Error('the signature of the manifest is wrong');
  const linesOf = (type: ArchiveRecordType) =>
    contentOf(`${type}.ndjson`).toString().split('\n').slice(0, -1);
  return {
    entries,
    manifest,
    records: <Type extends ArchiveRecordType>(type: Type) =>
      linesOf(type).map(
        (line) => archiveRecords[type].strict().parse(JSON.parse(line)) as ArchiveRecord<Type>,
      ),
    text: [...entries].filter(([name]) => name.endsWith('.ndjson')).join('\n'),
  };
}
