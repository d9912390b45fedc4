import { z } from 'zod';
import { normalizeResource, problemOfResource } from '../globs/resources.ts';
import {
  Day,
  Id,
  Instant,
  MemberParam,
  nameText,
  multilineText,
  recordStamps,
  StoryRef,
  boundedText,
  textWithinBytes,
  Time,
  Url,
  normalizeLineFeeds,
} from '../kernel/values.ts';
import { Actor } from './member.ts';
import { StoryStatus } from './project.ts';

export const priorities = ['none', 'low', 'medium', 'high', 'urgent'] as const;
export const Priority = z.enum(priorities);
export type Priority = z.infer<typeof Priority>;

export const StoryTitle = nameText(300);
export const StoryDescription = multilineText(20_000);
export const Label = nameText(50);
/** Removes labels that differ from an earlier one only in case. */
function uniqueLabels(labels: readonly string[]): string[] {
  const folded = labels.map((label) => label.toLowerCase());
  return labels.filter((_, index) => folded.indexOf(folded[index] ?? '') === index);
}

/** The maximum number of labels of a story. */
export const maxLabels = 20;

export const Labels = z
  .array(Label)
  .max(maxLabels)
  .overwrite((labels) => uniqueLabels(labels))
  .meta({ description: 'Its labels, at most 20; duplicates count once, and case does not matter' });
export const Estimate = z
  .number()
  .min(0)
  .max(10_000)
  // JSON can contain -0, which no comparison after the storage would find again.
  .overwrite((value) => (value === 0 ? 0 : value))
  .meta({ description: "In the team's own unit, such as points" });
export const BlockedBy = z.array(StoryRef).max(100);
export const ParentRef = StoryRef.meta({
  description: 'The story that this one is a part of, by id or key',
});
/** Resources that the work on a story will touch. They are stored in the form of lock resources. */
export const Touches = z
  .array(
    boundedText(512, 1)
      .overwrite(normalizeResource)
      .refine((text) => problemOfResource(text) === undefined, {
        error: ({ input }) => problemOfResource(String(input)) ?? '',
      }),
  )
  .max(50)
  .overwrite((resources) => [...new Set(resources)])
  .meta({ description: 'Paths or globs of files that the work will change, such as src/auth' });

/** The reason why a story is blocked, and who can unblock it. A story of any status can be blocked. */
export const Blocked = z.strictObject({
  kind: z.enum(['dependency', 'needs_input', 'external']),
  note: boundedText(2000),
  unblockerMemberId: MemberParam,
});

/**
 * A commit hash, complete or abbreviated as Git does (core.abbrev: at least 4 digits). It is stored in lower
 * case.
 */
export const Sha = z
  .string()
  .regex(/^[0-9a-fA-F]{4,64}$/, 'must be 4 to 64 hexadecimal digits')
  .toLowerCase();
export const DiffHash = boundedText(128, 1);
const Branch = nameText(255);

/** The known information about the code of a story. An omitted field stays unchanged, and null clears it. */
export const GitMeta = z.strictObject({
  branch: Branch.nullish(),
  baseBranch: Branch.nullish(),
  headSha: Sha.nullish(),
  diffHash: DiffHash.nullish(),
  pullRequest: z
    .strictObject({
      number: z.int().min(1),
      url: Url,
      state: z.enum(['draft', 'open', 'merged', 'closed']),
      title: boundedText(300).nullish(),
    })
    .nullish(),
  checks: z.enum(['pending', 'passing', 'failing']).nullish(),
});

export const Git = z.object({
  branch: z.string().nullable(),
  baseBranch: z.string().nullable(),
  headSha: z.string().nullable(),
  diffHash: z.string().nullable(),
  pullRequest: z
    .object({ number: z.int(), url: z.string(), state: z.string(), title: z.string().nullable() })
    .nullable(),
  checks: z.string().nullable(),
});
export type Git = z.infer<typeof Git>;

/** The record of another tracker that the story mirrors. */
export const UpstreamInput = z.strictObject({
  provider: z.enum(['github', 'gitlab', 'jira', 'linear', 'other']),
  externalId: boundedText(255, 1),
  url: Url.nullish(),
  state: boundedText(100).nullish(),
  syncedAt: Instant.nullish(),
});

export const Upstream = z.object({
  provider: z.string(),
  externalId: z.string(),
  url: z.string().nullable(),
  state: z.string().nullable(),
  syncedAt: Time.nullable(),
});
export type Upstream = z.infer<typeof Upstream>;

/** Converts the parameters for a record of another tracker to its stored form. Omitted or cleared fields are null. */
export const toUpstream = (input: z.output<typeof UpstreamInput>): Upstream => ({
  provider: input.provider,
  externalId: input.externalId,
  url: input.url ?? null,
  state: input.state ?? null,
  syncedAt: input.syncedAt ?? null,
});

/** A story as lists show it: everything except the description. */
export const StorySummary = z
  .object({
    id: Id,
    key: z.string().describe('Such as WEB-42'),
    number: z.int().min(1),
    projectId: Id,
    title: z.string(),
    status: StoryStatus,
    columnId: Id.nullable().describe('null for a canceled story'),
    rank: z.string().describe('Sort key of the story in its column, compared byte by byte'),
    epicId: Id.nullable(),
    parentId: Id.nullable().describe('The story that this one is a part of'),
    priority: Priority,
    labels: z.array(z.string()),
    estimate: z.number().nullable(),
    dueDate: Day.nullable(),
    touches: z.array(z.string()).describe('Paths, globs and names that the work is expected to touch'),
    blockedBy: z.array(Id),
    blocked: z.object({ kind: z.string(), note: z.string(), unblockerMemberId: Id.nullable() }).nullable(),
    specVersion: z.int().min(0).describe('0 if there is no spec yet'),
    git: Git.nullable(),
    upstream: Upstream.nullable(),
    createdBy: Actor,
    importedBy: Actor.nullable().describe('Who imported it; null if it was created in Muster'),
    importedFrom: z.string().nullable().describe('The tracker from which it was imported'),
    completedAt: Time.nullable(),
    ...recordStamps,
  })
  .meta({ id: 'StorySummary' });
export type StorySummary = z.infer<typeof StorySummary>;

export const Story = StorySummary.extend({ description: z.string().nullable() }).meta({ id: 'Story' });
export type Story = z.infer<typeof Story>;

/** Another story, as a list of related stories shows it. */
export const StoryLink = z
  .object({ id: Id, key: z.string(), title: z.string(), status: StoryStatus })
  .meta({ id: 'StoryLink' });
export type StoryLink = z.infer<typeof StoryLink>;

/** The maximum number of stories in each list of related stories. */
export const maxRelatedStories = 100;

/** A warning to the caller of a write that succeeded. */
export const Warning = z
  .object({
    code: z.enum([
      'wip_limit',
      'blocked_by',
      'has_children',
      'blocked',
      'lease_held',
      'merge_pending',
      'parent_open',
    ]),
    message: z.string(),
    columnId: Id.describe('The column that the story is in now; for parent_open, the column of its parent'),
  })
  .meta({ id: 'Warning' });
export type Warning = z.infer<typeof Warning>;

/** The result of an update of several stories for one of them. */
export const BulkStoryResult = z
  .object({
    storyId: z.string().describe("The story's id; for a refused story, its name in storyIds"),
    outcome: z.enum(['changed', 'unchanged', 'refused']),
    reason: z.string().nullable().describe('The reason of the refusal'),
    message: z.string().nullable().describe('The reason of the refusal in words'),
    version: z.int().nullable().describe('The current version, where it is known'),
  })
  .meta({ id: 'BulkStoryResult' });
export type BulkStoryResult = z.infer<typeof BulkStoryResult>;

/** The content of a spec: Markdown of at most 256 KiB. */
export const SpecContent = textWithinBytes(256 * 1024).overwrite(normalizeLineFeeds);

export const SpecEntry = z
  .object({
    storyId: Id,
    version: z.int().min(0),
    contentHash: z.string().nullable().describe('SHA-256 of the content, hexadecimal'),
    author: Actor.nullable(),
    importedBy: Actor.nullable().describe('Who imported it; null if it was written in Muster'),
    importedFrom: z.string().nullable().describe('The tracker from which it was imported'),
    note: z.string().nullable(),
    createdAt: Time.nullable(),
  })
  .meta({ id: 'SpecEntry' });

export const Spec = SpecEntry.extend({ content: z.string() }).meta({ id: 'Spec' });
export type Spec = z.infer<typeof Spec>;

/** A deleted story that can be brought back. */
export const DeletedStory = z
  .object({
    id: Id,
    key: z.string(),
    title: z.string(),
    deletedBy: Actor,
    deletedAt: Time,
    restorableUntil: Time,
  })
  .meta({ id: 'DeletedStory' });
export type DeletedStory = z.infer<typeof DeletedStory>;
