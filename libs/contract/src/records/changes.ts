/** The changes of an execution: the files that differ between its base and its head, and their patches. */
import { z } from 'zod';
import { Id, Time } from '../kernel/values.ts';

/** The name of the attachment in which a runner uploads the diff of its work. */
export const changesFileName = 'changes.diff';

/** The maximum size of an uploaded diff, and of all patches of one head together: 8 MiB. */
export const maxChangesBytes = 8 * 1024 * 1024;

/** The maximum number of changed files that are listed for a head. */
export const maxChangedFiles = 3_000;

/** The maximum size of the patch of one file. The rest is cut. */
export const maxPatchBytes = 1024 * 1024;

export const ChangedFileStatus = z.enum(['added', 'modified', 'deleted', 'renamed', 'copied']);
export type ChangedFileStatus = z.infer<typeof ChangedFileStatus>;

export const changesSources = ['forge', 'runner'] as const;

export const ChangedFile = z
  .object({
    path: z.string(),
    oldPath: z.string().nullable().describe('The earlier path of a renamed or copied file'),
    status: ChangedFileStatus,
    additions: z.int(),
    deletions: z.int(),
    binary: z.boolean(),
    truncated: z.boolean().describe('true if the patch is incomplete or missing because it is too large'),
  })
  .meta({ id: 'ChangedFile' });
export type ChangedFile = z.infer<typeof ChangedFile>;

/** The reason why a forge gave no changes. */
export const ChangesFailure = z.strictObject({
  code: z.enum(['forge_refused', 'forge_away']),
  message: z.string().max(500),
});
export type ChangesFailure = z.infer<typeof ChangesFailure>;

export const Changes = z
  .object({
    executionId: Id.nullable().describe('null if the story has no work yet'),
    state: z
      .enum(['ready', 'pending', 'unavailable'])
      .describe('pending while the forge is asked; call again after a few seconds'),
    problem: z
      .object({
        code: z.enum(['no_head', 'no_source', ...ChangesFailure.shape.code.options]),
        message: z.string(),
      })
      .nullable()
      .describe('Why the changes are unavailable'),
    source: z
      .enum(changesSources)
      .nullable()
      .describe('forge: read from the forge. runner: a diff that the holder uploaded'),
    headSha: z.string().nullable().describe('The head whose changes are returned'),
    baseSha: z.string().nullable(),
    currentHeadSha: z.string().nullable().describe('The head under review'),
    isCurrent: z.boolean().describe('true if the returned head is the one under review'),
    approvedHeadSha: z.string().nullable().describe('The head of the newest approval'),
    isApproved: z.boolean().describe('true if a reviewer approved exactly the returned head'),
    fileCount: z.int(),
    additions: z.int(),
    deletions: z.int(),
    truncated: z
      .boolean()
      .describe(`true if files are missing: at most ${maxChangedFiles.toLocaleString('en')} are listed`),
    attachmentId: Id.nullable().describe('The uploaded diff, if the source is the runner'),
    storedAt: Time.nullable(),
  })
  .meta({ id: 'Changes' });
export type Changes = z.infer<typeof Changes>;

export const FilePatch = z
  .object({
    path: z.string(),
    text: z.string().describe('The hunks in the unified format, without the lines of the file names'),
    truncated: z.boolean(),
  })
  .meta({ id: 'FilePatch' });
export type FilePatch = z.infer<typeof FilePatch>;

/** A changed file with its patch, as a source reports it. */
export const ReportedFileChange = z.strictObject({
  path: z.string().min(1).max(4_096),
  oldPath: z.string().max(4_096).nullable(),
  status: ChangedFileStatus,
  /** The numbers of lines; null to count them in the patch. */
  additions: z.int().min(0).nullable(),
  deletions: z.int().min(0).nullable(),
  binary: z.boolean(),
  /** The hunks; null for a binary file, or if the source left the patch out. */
  patch: z.string().max(maxChangesBytes).nullable(),
  truncated: z.boolean(),
});
export type ReportedFileChange = z.infer<typeof ReportedFileChange>;
