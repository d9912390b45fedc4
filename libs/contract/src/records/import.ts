/** Imports from other trackers: the items of a batch, and their results. */
import { z } from 'zod';
import { archiveRecordTypes } from './archive.ts';
import { Day, Id, Instant, nameText, recordStamps, boundedText, Time, Url } from '../kernel/values.ts';
import { CommentBody } from './comment.ts';
import { Actor, EmailAddress, MemberName } from './member.ts';
import { EpicTitle, StoryStatus } from './project.ts';
import {
  Estimate,
  Labels,
  Priority,
  SpecContent,
  StoryDescription,
  StoryTitle,
  Touches,
  UpstreamInput,
} from './story.ts';

/** `muster` is the archive of another installation's export. */
export const ImportProvider = z.enum([...UpstreamInput.shape.provider.options, 'muster']);
export const ImportName = nameText(120);
export const importStates = ['open', 'finished', 'reverted'] as const;
export const importOutcomes = ['created', 'updated', 'unchanged', 'kept', 'refused'] as const;
export type ImportOutcome = (typeof importOutcomes)[number];

/** The maximum number of items in one put of an import. `maxCommentsPerItem` limits the comments of an item. */
export const maxImportItems = 200;
const maxCommentsPerItem = 500;

const ExternalId = boundedText(255, 1).meta({ description: 'The id of the record in the other tracker' });

export const ImportItem = z.strictObject({
  type: z
    .literal('item')
    .optional()
    .meta({ description: 'The type of a line of an archive; omitted for items of a tracker' }),
  externalId: ExternalId,
  url: Url.optional(),
  title: StoryTitle,
  description: StoryDescription.optional(),
  spec: SpecContent.optional(),
  status: StoryStatus.optional(),
  column: nameText(120).optional().meta({ description: 'The name of a board column; give this or status' }),
  priority: Priority.optional(),
  labels: Labels.optional(),
  estimate: Estimate.optional(),
  dueDate: Day.optional(),
  touches: Touches.optional(),
  parent: ExternalId.optional().meta({
    description: 'The item that this one is a part of; resolved when the import is finished',
  }),
  epic: z.strictObject({ externalId: ExternalId, title: EpicTitle, targetDate: Day.optional() }).optional(),
  blockedBy: z
    .array(ExternalId)
    .max(100)
    .optional()
    .meta({ description: 'The items that this one waits for; resolved when the import is finished' }),
  assigneeEmail: EmailAddress.optional().meta({
    description: 'The e-mail address of a member; assigned when the story is created',
  }),
  createdAt: Instant.optional(),
  updatedAt: Instant.optional(),
  comments: z
    .array(
      z.strictObject({
        externalId: ExternalId,
        authorName: MemberName,
        authorEmail: EmailAddress.optional(),
        body: CommentBody,
        at: Instant,
        parent: ExternalId.optional().meta({ description: 'The comment to which this one replies' }),
      }),
    )
    .max(maxCommentsPerItem)
    .optional(),
});
export type ImportItem = z.output<typeof ImportItem>;

/** A line of an archive. imports.put checks its other fields one by one and refuses only the lines that do not fit. */
const ArchiveItem = z.looseObject({
  type: z.enum(archiveRecordTypes).meta({ description: 'The type of the line' }),
});

/** An item of imports.put: of a tracker, or of an archive if the provider is `muster`. */
export const ImportInput = z.discriminatedUnion('type', [ImportItem, ArchiveItem]);
export type ImportInput = z.output<typeof ImportInput>;

export const ImportCounts = z.object({
  created: z.int(),
  updated: z.int(),
  unchanged: z.int(),
  kept: z.int(),
  refused: z.int(),
});

export const Import = z
  .object({
    id: Id,
    projectId: Id,
    provider: z.string(),
    name: z.string(),
    state: z.enum(importStates),
    begunBy: Actor,
    counts: ImportCounts.describe(
      'The results of its items; an item that was sent several times counts each time',
    ),
    finishedAt: Time.nullable(),
    revertedAt: Time.nullable(),
    ...recordStamps,
  })
  .meta({ id: 'Import' });
export type Import = z.infer<typeof Import>;

const Note = z.object({ path: z.string(), message: z.string() });

export const ImportResult = z
  .object({
    externalId: z.string(),
    outcome: z.enum(importOutcomes),
    storyId: Id.nullable().describe('null if the item was refused, or its story was deleted here'),
    recordId: Id.nullable().describe('The record of the item, such as its story; null if it has none here'),
    key: z.string().nullable(),
    issues: z.array(Note).describe('Why it was refused or kept, and which parts of it were left out'),
  })
  .meta({ id: 'ImportResult' });
export type ImportResult = z.infer<typeof ImportResult>;
