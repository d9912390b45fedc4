/**
 * The records of an export, which imports of another installation read. An archive has one file
 * `<type>.ndjson` per type. Each line is a JSON object with the field `type` and the fields of the record.
 * The archive is a tar.gz: the record files in this order, `attachments/<id>`, manifest.json and manifest.sig.
 */
import { z } from 'zod';
import { Id, Time } from '../kernel/values.ts';
import { Assignment } from './assignment.ts';
import { Attachment, Sha256 } from './attachment.ts';
import { Comment } from './comment.ts';
import { Contract } from './contract.ts';
import { Actor, Member } from './member.ts';
import { Notification } from './notification.ts';
import { BoardColumn, Epic, Project } from './project.ts';
import { projectRoles } from '../kernel/access.ts';
import { Prompt } from './prompt.ts';
import { Reviewer } from './review.ts';
import { Spec, Story } from './story.ts';
import { Team, teamRoles } from './team.ts';
import { ActivityItem } from './trail.ts';
import { View } from './view.ts';

/** The version of the archive format. It increases with each change that existing readers do not understand. */
export const archiveFormatVersion = 1;

const role = z.enum(projectRoles);

/** Adds the field that makes each line say what it is. */
const archiveRecordSchema = <const Type extends string, Fields extends z.ZodRawShape>(
  type: Type,
  record: z.ZodObject<Fields>,
) => z.object({ type: z.literal(type), ...record.shape });

/**
 * The schema of the lines of each type, in the order of the archive. References lead to earlier types, and replies
 * follow the comments that they answer. The exceptions are `blockedBy` and `parentId` of stories: they are known after
 * the last story.
 */
export const archiveRecords = {
  members: archiveRecordSchema('members', Member),
  agents: archiveRecordSchema(
    'agents',
    z.object({
      id: Id,
      memberId: Id,
      name: z.string(),
      slug: z.string(),
      retiredAt: Time.nullable(),
      createdAt: Time,
    }),
  ),
  teams: archiveRecordSchema(
    'teams',
    Team.extend({
      members: z.array(z.object({ memberId: Id, role: z.enum(teamRoles), addedAt: Time })),
    }),
  ),
  projects: archiveRecordSchema(
    'projects',
    Project.omit({ myRole: true }).extend({
      members: z.array(z.object({ memberId: Id, role, addedAt: Time })),
      teams: z.array(z.object({ teamId: Id, role })),
    }),
  ),
  columns: archiveRecordSchema('columns', BoardColumn),
  epics: archiveRecordSchema('epics', Epic.omit({ progress: true })),
  stories: archiveRecordSchema(
    'stories',
    Story.extend({
      code: z
        .record(z.string(), z.unknown())
        .nullable()
        .describe('The state of the code under review, by which verdicts become stale'),
    }),
  ),
  specs: archiveRecordSchema('specs', Spec.extend({ linesAdded: z.int(), linesRemoved: z.int() })),
  comments: archiveRecordSchema(
    'comments',
    Comment.omit({ reactions: true }).extend({
      reactions: z.array(z.object({ emoji: z.string(), memberId: Id, createdAt: Time })),
    }),
  ),
  assignments: archiveRecordSchema('assignments', Assignment),
  reviewers: archiveRecordSchema('reviewers', Reviewer),
  prompts: archiveRecordSchema('prompts', Prompt),
  contracts: archiveRecordSchema('contracts', Contract),
  views: archiveRecordSchema('views', View),
  attachments: archiveRecordSchema(
    'attachments',
    Attachment.omit({ downloadUrl: true, state: true }).extend({ projectId: Id }),
  ),
  activity: archiveRecordSchema('activity', ActivityItem),
  notifications: archiveRecordSchema('notifications', Notification.omit({ snoozedUntil: true })),
} as const;

export type ArchiveRecordType = keyof typeof archiveRecords;
/** The types of records, in the order of the archive. */
export const archiveRecordTypes = Object.keys(archiveRecords) as ArchiveRecordType[];
/** A line of `<type>.ndjson`. */
export type ArchiveRecord<Type extends ArchiveRecordType = ArchiveRecordType> = {
  [Name in Type]: z.infer<(typeof archiveRecords)[Name]>;
}[Type];

/** The file of a type's records in the archive. */
export const archiveFileName = (type: ArchiveRecordType): string => `${type}.ndjson`;
/** The file in the archive with the contents of an attachment. */
export const attachmentFileName = (attachmentId: string): string => `attachments/${attachmentId}`;
export const manifestFileName = 'manifest.json';
/** The file with the Ed25519 signature of the bytes of manifest.json: 64 bytes. */
export const manifestSignatureFileName = 'manifest.sig';
/** The path at which an installation publishes the public keys of its exports. */
export const exportKeysPath = '/.well-known/muster-export-keys.json';

export const exportScopes = ['org', 'project', 'me'] as const;
export const ExportScope = z.enum(exportScopes);
export type ExportScope = z.infer<typeof ExportScope>;

/** The table of contents of an archive. It is the last file but one; its signature is the last. */
export const ArchiveManifest = z
  .object({
    format: z.literal('muster-export'),
    formatVersion: z.int().min(1),
    exportId: Id,
    scope: ExportScope,
    organization: z.object({ id: Id, name: z.string(), slug: z.string() }),
    project: z.object({ id: Id, key: z.string(), name: z.string() }).nullable(),
    requestedBy: Actor,
    startedAt: Time.describe('Records that were created later are not in the archive'),
    completedAt: Time,
    source: z.string().describe('The URL of the installation'),
    productVersion: z.string(),
    keyId: z.string().describe('The key of manifest.sig; see kid in the published keys'),
    counts: z.record(z.string(), z.int()).describe('The number of records of each type'),
    files: z.array(z.object({ name: z.string(), size: z.int(), sha256: Sha256 })),
    missing: z
      .array(Id)
      .describe('Attachments whose file was deleted during the export, or cannot be read any more'),
  })
  .meta({ id: 'ArchiveManifest' });
export type ArchiveManifest = z.infer<typeof ArchiveManifest>;
