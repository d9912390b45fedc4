/** Files that are attached to stories, comments and executions, and what they prove about the work. */
import { z } from 'zod';
import { Id, isUuid, nameText, recordStamps, Time } from '../kernel/values.ts';
import { type CodeUnderReview, isSameCommit } from './code.ts';
import { Actor } from './member.ts';

export const attachmentTargetTypes = ['story', 'comment', 'execution'] as const;
export const AttachmentTargetType = z.enum(attachmentTargetTypes);
export type AttachmentTargetType = z.infer<typeof AttachmentTargetType>;

/** Returns true if the id can name this kind of record: only stories have keys. */
export const isAttachmentTargetRef = (params: {
  readonly targetType: AttachmentTargetType;
  readonly targetId: string;
}): boolean => params.targetType === 'story' || isUuid(params.targetId);

export const attachmentKinds = [
  'file',
  'test_report',
  'screenshot',
  'video',
  'log',
  'coverage',
  'diff',
] as const;
export const AttachmentKind = z.enum(attachmentKinds);
export type AttachmentKind = z.infer<typeof AttachmentKind>;

/** The maximum size of a file: 50 MiB. */
export const maxAttachmentBytes = 50 * 1024 * 1024;

/** A file name without a folder. */
export const AttachmentName = nameText(255)
  .refine((name) => !/[/\\]/.test(name), 'must be a file name without a folder')
  .refine((name) => !/^\.+$/.test(name), 'must not consist of dots');

/** A media type. Parameters such as `charset` are removed. */
export const FileContentType = z
  .string()
  .max(255)
  .overwrite((text) => (text.split(';')[0] ?? '').trim().toLowerCase())
  .regex(/^[\w!#$&^.+-]{1,63}\/[\w!#$&^.+-]{1,127}$/, 'must be a media type such as image/png');

export const Sha256 = z
  .string()
  .overwrite((text) => text.toLowerCase())
  .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 of 64 hexadecimal digits');

/** The number of failed tests that a report names. */
export const maxFailedTestsNamed = 50;

export const TestReport = z
  .object({
    tests: z.int().min(0),
    failures: z.int().min(0),
    errors: z.int().min(0),
    skipped: z.int().min(0),
    durationMs: z.int().min(0).nullable().describe('null if the report states no durations'),
    failed: z.array(z.string()).describe(`The names of failed tests, at most ${maxFailedTestsNamed}`),
  })
  .meta({ id: 'TestReport' });
export type TestReport = z.infer<typeof TestReport>;

export const Attachment = z
  .object({
    id: Id,
    targetType: AttachmentTargetType,
    targetId: Id,
    storyId: Id.nullable().describe('null for work on a delivery group'),
    name: z.string(),
    contentType: z.string(),
    size: z.int(),
    sha256: z.string(),
    kind: AttachmentKind,
    state: z.enum(['pending', 'stored']).describe('pending until the file has been uploaded'),
    headSha: z.string().nullable().describe('The commit that it is evidence for'),
    stale: z.boolean().describe('true if the code has changed since'),
    report: TestReport.nullable().describe('The results of a test_report; null if it cannot be read'),
    author: Actor,
    importedBy: Actor.nullable().describe('Who imported it; null if it was attached in Muster'),
    importedFrom: z.string().nullable().describe('The tracker from which it was imported'),
    downloadUrl: z.string().nullable().describe('Valid for 5 minutes; null while pending'),
    ...recordStamps,
  })
  .meta({ id: 'Attachment' });
export type Attachment = z.infer<typeof Attachment>;

export const AttachmentUpload = z
  .object({
    url: z.string(),
    method: z.literal('PUT'),
    headers: z.record(z.string(), z.string()),
    expiresAt: Time,
  })
  .meta({ id: 'AttachmentUpload' });
export type AttachmentUpload = z.infer<typeof AttachmentUpload>;

/** The code that an attachment is evidence for. */
export interface EvidenceCode {
  /** The sequence number of the submitted code that was under review when the evidence was attached; null if
   * the evidence is about code that was not submitted. */
  readonly codeSeq: number | null;
  readonly headSha: string | null;
}

/**
 * Returns true if the code has changed since the evidence was attached, as it does for verdicts. An attachment that
 * names no code is never stale.
 */
export function isEvidenceStale({ codeSeq, headSha }: EvidenceCode, code: CodeUnderReview | null): boolean {
  if (code === null || (codeSeq === null && headSha === null)) return false;
  if (codeSeq === code.seq) return false;
  return headSha === null || code.headSha === null || !isSameCommit(headSha, code.headSha);
}
