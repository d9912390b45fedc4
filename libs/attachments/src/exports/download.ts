/** Serves the archives of exports at their signed addresses, which need no token. */
import { Readable } from 'node:stream';
import { isUuid, notFound, unauthorized } from '@muster/contract';
import { inOrganizationAsSystem } from '@muster/tenancy';
import { findDownloadableExport, listParts } from '../data/exports.ts';
import { type Download, type FilesContext, requireStorage } from '../files.ts';
import { isValidExportSignature } from '../rules/addresses.ts';
import { downloadHeaders } from '../rules/download-headers.ts';
import { readParts } from './read-parts.ts';

/** The parts of the requested address of an archive, which may be forged. */
export interface RequestedArchive {
  readonly orgId: string;
  readonly exportId: string;
  readonly expires: string;
  readonly signature: string;
}

/** Opens an archive. Throws 401 if the address was not issued or has expired, and 404 without an archive. */
export async function openArchive(context: FilesContext, requested: RequestedArchive): Promise<Download> {
  const { orgId, exportId, expires, signature } = requested;
  if (!isUuid(orgId) || !isUuid(exportId) || !/^\d{1,15}$/.test(expires))
    throw unauthorized('file_signature');
  const { archive, parts } = await inOrganizationAsSystem(context.pool, orgId, async (db) => {
    const [found, ids] = await Promise.all([
      findDownloadableExport(db, exportId),
      listParts(db, exportId, { from: 0 }),
    ]);
    return { archive: found, parts: ids };
  });
  if (archive === undefined) throw notFound();
  const address = { orgId, exportId, expiresAtMillis: Number(expires) };
  if (!isValidExportSignature(archive.organizationKey, address, signature, Date.parse(archive.now)))
    throw unauthorized('file_signature');
  const storage = requireStorage(context);
  const { fileName, size } = archive;
  return {
    headers: {
      ...downloadHeaders({ name: fileName, content_type: 'application/gzip', size }),
      'content-type': 'application/gzip',
      'cache-control': 'private, no-store',
    },
    content: Readable.from(readParts(storage, orgId, parts), { objectMode: false }),
  };
}
