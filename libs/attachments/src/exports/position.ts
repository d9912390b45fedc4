/** The position at which the writing of an archive continues, and its progress. */
import { archiveRecordTypes } from '@muster/contract';
import { type ArchiveKey } from '@muster/tenancy';
import { z } from 'zod';

/** The steps of an archive: a step for each type of records, then the attached files, then the manifest. */
export const filesStep = archiveRecordTypes.length;
export const manifestStep = filesStep + 1;

export const ExportPosition = z.object({
  step: z.int().min(0).max(manifestStep),
  /** The key of the last record that was written in this step. */
  key: z.array(z.union([z.string(), z.number()])).nullable(),
  /** The position of the next part. */
  part: z.int().min(0),
  /**
   * The file of a type with too many records for one part. Its header states its size, so it is written last, at a
   * position that was kept free before the content.
   */
  split: z
    .object({
      header: z.int().min(0),
      size: z.int().min(0),
      records: z.int().min(0),
      isComplete: z.boolean(),
    })
    .nullable(),
});
export type ExportPosition = z.infer<typeof ExportPosition>;

export const firstPosition: ExportPosition = { step: 0, key: null, part: 0, split: null };

/** Returns the position at the beginning of the next step. */
export const nextStep = ({ step, part }: ExportPosition): ExportPosition => ({
  ...{ step: step + 1, key: null, part, split: null },
});

/** Returns the time in a UUIDv7, in milliseconds since 1970; undefined if the key has no id. */
function timeOfKey(key: ArchiveKey | null): number | undefined {
  const id = key?.find((value): value is string => typeof value === 'string' && value.includes('-'));
  return id === undefined ? undefined : Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}

/**
 * Estimates the progress in percent. Keys are ids that contain the time of their creation, so the position of a key
 * in the lifetime of the organization tells how much of a step is done.
 */
export function estimateProgress(
  { step, key }: ExportPosition,
  { orgId, startedAt }: { readonly orgId: string; readonly startedAt: string },
): number {
  const begin = timeOfKey([orgId]) ?? 0;
  const reached = timeOfKey(key) ?? begin;
  const fraction = Math.min(1, Math.max(0, (reached - begin) / Math.max(1, Date.parse(startedAt) - begin)));
  return Math.min(99, Math.floor((100 * (step + fraction)) / (manifestStep + 1)));
}
