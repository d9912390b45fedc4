import { z } from 'zod';
import {
  project,
  operation,
  surfacesWithoutTool,
  pageParams,
  pageSchemaOf,
  Deleted,
  Id,
  Attachment,
  AttachmentKind,
  AttachmentName,
  AttachmentTargetType,
  AttachmentUpload,
  FileContentType,
  isAttachmentTargetRef,
  maxAttachmentBytes,
  Sha256,
  TargetRef,
  targetIdIssue,
  Sha,
} from '@muster/contract';

const example = { attachmentId: '01936d5c-0000-7000-8000-00000000000a' };

export const attachments = {
  create: operation({
    name: 'attachments.create',
    effect: 'write',
    summary: 'Attach a file to a story, a comment or an execution',
    keywords: 'upload evidence screenshot test report junit tap coverage log video image proof',
    description:
      'PUT the file to upload.url within an hour. A test_report is JUnit or TAP. Evidence (not kind file) is stale once the code changes. Viewers may only attach to comments.',
    access: project('viewer'),
    params: z
      .strictObject({
        targetType: AttachmentTargetType,
        targetId: TargetRef,
        name: AttachmentName,
        contentType: FileContentType,
        size: z.int().min(0).max(maxAttachmentBytes),
        sha256: Sha256,
        kind: AttachmentKind.default('file'),
        headSha: Sha.optional(),
      })
      .refine(isAttachmentTargetRef, targetIdIssue),
    result: z.object({ attachment: Attachment, upload: AttachmentUpload }),
    refusals: ['archived', 'limit_exceeded'],
    surfaces: surfacesWithoutTool,
    example: {
      ...{ targetType: 'story', targetId: 'WEB-1', name: 'sign-in.png', contentType: 'image/png' },
      ...{
        size: 4,
        sha256: '3b5d8b2d0ab9d9d4b1bd0b3b5a5b8c1cf4b3f5f0e4b5d3c2a1908f7e6d5c4b3a',
        kind: 'screenshot',
      },
    },
  }),
  get: operation({
    name: 'attachments.get',
    effect: 'read',
    summary: 'Get an attachment with a download address',
    keywords: 'file download screenshot test report',
    description: 'downloadUrl is valid for 5 minutes. Call again for a new one.',
    access: project('viewer'),
    params: z.strictObject({ attachmentId: Id }),
    result: z.object({ attachment: Attachment }),
    surfaces: surfacesWithoutTool,
    example,
  }),
  list: operation({
    name: 'attachments.list',
    effect: 'read',
    summary: 'List the attachments of a story, a comment or an execution',
    keywords: 'files evidence screenshots test reports images',
    description: "Newest first. includeParts adds those of the story's comments and executions.",
    access: project('viewer'),
    params: z
      .strictObject({
        targetType: AttachmentTargetType,
        targetId: TargetRef,
        kind: AttachmentKind.optional(),
        includeStale: z.boolean().default(true),
        includeParts: z.boolean().default(false),
        ...pageParams,
      })
      .refine(isAttachmentTargetRef, targetIdIssue),
    result: pageSchemaOf(Attachment),
    surfaces: surfacesWithoutTool,
    example: { targetType: 'story', targetId: 'WEB-1' },
  }),
  delete: operation({
    name: 'attachments.delete',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Delete an attachment',
    keywords: 'remove file upload',
    description: 'You can delete your own attachments, and leads of the project can delete any.',
    access: project('viewer', 'author', 'projectLead'),
    params: z.strictObject({ attachmentId: Id }),
    result: Deleted,
    refusals: ['archived'],
    emits: ['attachment.deleted'],
    surfaces: surfacesWithoutTool,
    example,
  }),
};
