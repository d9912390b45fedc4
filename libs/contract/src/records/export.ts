/** Exports: archives with the data of an organization, of a project or of one person. */
import { z } from 'zod';
import { Id, recordStamps, Time } from '../kernel/values.ts';
import { ExportScope } from './archive.ts';
import { Actor } from './member.ts';

const exportStates = ['queued', 'running', 'done', 'failed'] as const;

/** The days for which an archive can be downloaded. */
export const exportRetentionDays = 7;
/** The number of newest archives that are kept of the same organization, project or person. */
export const maxKeptExports = 5;

/** The reasons why an export failed. */
const exportFailures = ['storage_missing', 'storage_unavailable', 'internal'] as const;
export type ExportFailure = (typeof exportFailures)[number];

export const DataExport = z
  .object({
    id: Id,
    scope: ExportScope,
    projectId: Id.nullable().describe('null unless the scope is project'),
    state: z.enum(exportStates),
    progress: z.int().min(0).max(100).describe('In percent'),
    records: z.int().min(0).describe('The number of records that were written so far'),
    size: z.int().min(0).describe('The size of the archive in bytes, as far as it was written'),
    failure: z
      .enum(exportFailures)
      .nullable()
      .describe(
        'storage_missing: no storage of files is configured. storage_unavailable: it could not be used. internal: see the log of the worker',
      ),
    requestedBy: Actor,
    downloadUrl: z.string().nullable().describe('A signed address, valid until expiresAt; null until done'),
    finishedAt: Time.nullable(),
    expiresAt: Time.nullable().describe('When the archive is deleted'),
    ...recordStamps,
  })
  .meta({ id: 'Export' });
export type DataExport = z.infer<typeof DataExport>;
