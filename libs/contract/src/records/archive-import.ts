/**
 * The lines of an archive as imports.put accepts them: the fields of archive.ts that an import uses, within the limits
 * of the operations that set them. Other fields are ignored, so archives of later releases can be imported.
 */
import { z } from 'zod';
import { projectRoles } from '../kernel/access.ts';
import { boundedText, Day, Id, Instant, multilineText, nameText, Url } from '../kernel/values.ts';
import { type ArchiveRecordType } from './archive.ts';
import { AttachmentKind, AttachmentName, attachmentTargetTypes, Sha256 } from './attachment.ts';
import { Anchor, AnswerOptions, CodeAnchor, CommentBody, Emoji } from './comment.ts';
import { ContractContent, ContractKind } from './contract.ts';
import { Actor, AgentName, EmailAddress, MemberName } from './member.ts';
import {
  ColumnName,
  ColumnStatus,
  EpicDescription,
  EpicTitle,
  Repository,
  StoryStatus,
  WipLimit,
} from './project.ts';
import { PromptArguments, PromptBody, PromptTags, PromptTitle, Slug } from './prompt.ts';
import { ReviewNote, Verdict } from './review.ts';
import {
  DiffHash,
  Estimate,
  Labels,
  Priority,
  Sha,
  SpecContent,
  StoryDescription,
  StoryTitle,
  Touches,
  UpstreamInput,
} from './story.ts';
import { TargetType } from './target.ts';
import { TeamDescription, TeamName, TeamRole } from './team.ts';
import { AgentSlug } from './token.ts';
import { ViewColumns, ViewFilter, ViewGroup, ViewLayout, ViewName, ViewSort } from './view.ts';

/** Later changes count up from here, so the limit leaves room below that of the database. */
const Count = z.int().min(0).max(100_000_000);
const ArchivedActor = Actor.extend({ name: boundedText(120, 1) });
const stamps = { createdAt: Instant, updatedAt: Instant, version: Count.min(1) };
const Git = z.object({
  branch: boundedText(255).nullable(),
  baseBranch: boundedText(255).nullable(),
  headSha: Sha.nullable(),
  diffHash: DiffHash.nullable(),
  pullRequest: z
    .object({
      number: z.int().min(1).max(2_147_483_647),
      url: Url,
      state: boundedText(20),
      title: boundedText(300).nullable(),
    })
    .nullable(),
  checks: boundedText(20).nullable(),
});

export const importedArchiveRecords = {
  members: z.object({ id: Id, email: EmailAddress, name: MemberName }),
  agents: z.object({
    id: Id,
    memberId: Id,
    slug: AgentSlug,
    name: AgentName,
    createdAt: Instant,
    retiredAt: Instant.nullable(),
  }),
  teams: z.object({
    id: Id,
    name: TeamName,
    description: TeamDescription.nullable(),
    members: z.array(z.object({ memberId: Id, role: TeamRole, addedAt: Instant })).max(10_000),
    ...stamps,
  }),
  projects: z.object({
    id: Id,
    name: nameText(120),
    description: multilineText(20_000).nullable(),
    repository: Repository.nullable(),
    members: z.array(z.object({ memberId: Id, role: z.enum(projectRoles), addedAt: Instant })).max(10_000),
    teams: z.array(z.object({ teamId: Id, role: z.enum(projectRoles) })).max(10_000),
    ...stamps,
  }),
  columns: z.object({
    id: Id,
    projectId: Id,
    name: ColumnName,
    status: ColumnStatus,
    position: Count,
    wipLimit: WipLimit.nullable(),
    archivedAt: Instant.nullable(),
    ...stamps,
  }),
  epics: z.object({
    id: Id,
    projectId: Id,
    title: EpicTitle,
    description: EpicDescription.nullable(),
    color: z
      .string()
      .regex(/^#[0-9a-f]{6}$/)
      .nullable(),
    targetDate: Day.nullable(),
    status: z.enum(['open', 'done', 'canceled']),
    ...stamps,
  }),
  stories: z.object({
    id: Id,
    projectId: Id,
    number: Count.min(1),
    title: StoryTitle,
    description: StoryDescription.nullable(),
    status: StoryStatus,
    columnId: Id.nullable(),
    rank: boundedText(200, 1),
    epicId: Id.nullable(),
    parentId: Id.nullable(),
    priority: Priority,
    labels: Labels,
    estimate: Estimate.nullable(),
    dueDate: Day.nullable(),
    touches: Touches,
    blockedBy: z.array(Id).max(100),
    blocked: z
      .object({
        kind: z.enum(['dependency', 'needs_input', 'external']),
        note: boundedText(2000),
        unblockerMemberId: Id.nullable(),
      })
      .nullable(),
    git: Git.nullable(),
    code: z.object({ headSha: Sha.nullable(), diffHash: DiffHash.nullable() }).nullish(),
    upstream: UpstreamInput.nullable(),
    createdBy: ArchivedActor,
    completedAt: Instant.nullable(),
    ...stamps,
  }),
  specs: z.object({
    storyId: Id,
    version: Count.min(1),
    content: SpecContent,
    author: ArchivedActor,
    note: boundedText(500).nullable(),
    createdAt: Instant,
    linesAdded: Count,
    linesRemoved: Count,
  }),
  comments: z.object({
    id: Id,
    storyId: Id,
    parentId: Id.nullable(),
    kind: z.enum(['comment', 'question', 'decision']),
    body: CommentBody.nullable(),
    author: ArchivedActor,
    directedTo: Id.nullable(),
    mentions: z.array(z.union([z.object({ memberId: Id }), z.object({ agentId: Id })])).max(1000),
    anchor: Anchor.nullable(),
    codeAnchor: CodeAnchor.nullable().default(null),
    options: AnswerOptions.default([]),
    reactions: z.array(z.object({ emoji: Emoji, memberId: Id, createdAt: Instant })).max(10_000),
    resolvedAt: Instant.nullable(),
    resolvedBy: ArchivedActor.nullable(),
    editedAt: Instant.nullable(),
    deletedAt: Instant.nullable(),
    ...stamps,
  }),
  assignments: z.object({
    targetType: TargetType,
    targetId: Id,
    member: z.object({ id: Id }).nullable(),
    agent: z.object({ id: Id }).nullable(),
    assignedBy: ArchivedActor.nullable(),
    createdAt: Instant.nullable(),
    updatedAt: Instant.nullable(),
  }),
  reviewers: z.object({
    id: Id,
    storyId: Id,
    reviewer: z.object({ kind: z.enum(['member', 'agent']), memberId: Id, agentId: Id.nullable() }),
    verdict: Verdict,
    stale: z.boolean(),
    note: ReviewNote.nullable(),
    specVersion: Count.nullable(),
    headSha: Sha.nullable(),
    diffHash: DiffHash.nullable(),
    decidedAt: Instant.nullable(),
    ...stamps,
  }),
  prompts: z.object({
    id: Id,
    projectId: Id.nullable(),
    slug: Slug,
    title: PromptTitle,
    body: PromptBody,
    arguments: PromptArguments,
    tags: PromptTags,
    createdBy: ArchivedActor,
    updatedBy: ArchivedActor,
    ...stamps,
  }),
  contracts: z.object({
    id: Id,
    projectId: Id,
    slug: Slug,
    version: Count.min(1),
    kind: ContractKind,
    content: ContractContent,
    storyId: Id.nullable(),
    note: boundedText(500).nullable(),
    publishedBy: ArchivedActor,
    createdAt: Instant,
  }),
  views: z.object({
    id: Id,
    projectId: Id.nullable(),
    owner: z.object({ id: Id }),
    name: ViewName,
    layout: ViewLayout,
    filter: ViewFilter,
    groupBy: ViewGroup,
    sort: ViewSort,
    columns: ViewColumns,
    shared: z.boolean(),
    ...stamps,
  }),
  attachments: z.object({
    id: Id,
    targetType: z.enum(attachmentTargetTypes),
    targetId: Id,
    name: AttachmentName,
    kind: AttachmentKind,
    sha256: Sha256,
    author: ArchivedActor,
    ...stamps,
  }),
} as const satisfies Partial<Record<ArchiveRecordType, z.ZodType>>;

export type ImportedArchiveType = keyof typeof importedArchiveRecords;
/** A line of an archive that imports.put can write. */
export type ImportedArchiveRecord<Type extends ImportedArchiveType> = z.output<
  (typeof importedArchiveRecords)[Type]
>;
