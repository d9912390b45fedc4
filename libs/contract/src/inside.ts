/**
 * Internal operations between domains. They run like operations, in the caller's own transaction, but are
 * offered on no surface. External callers cannot call them.
 */
import { z } from 'zod';
import { org, project } from './kernel/access.ts';
import { operation } from './kernel/operation.ts';
import { Id, ProjectRef, StoryRef } from './kernel/values.ts';
import {
  changesSources,
  maxChangedFiles,
  maxChangesBytes,
  ChangesFailure,
  ReportedFileChange,
} from './records/changes.ts';
import { StoryTouches } from './records/conflict.ts';
import { Collision, PassedOver } from './records/context.ts';
import { Execution, Observation, ObservationInput, ObservationKind } from './records/execution.ts';
import { Lock } from './records/lock.ts';
import { StoryStatus } from './records/project.ts';
import { Label, Sha } from './records/story.ts';
import { Trust } from './records/merge-proof.ts';

/** The parameters that filter the stories from which the next one is chosen. */
const nextStoryFilters = {
  projectId: ProjectRef,
  labels: z.array(Label).max(20).optional(),
  epicId: Id.optional(),
  assignedToMe: z.boolean(),
  /** True if a story whose work has not begun also moves to in_progress. The move has to pass its usual gates. */
  moves: z.boolean(),
};

/**
 * The sort key of a story among those that may begin next. Stories are sorted by urgency, and then in the
 * board's order.
 */
const BoardPosition = z.strictObject({
  urgency: z.int(),
  position: z.int(),
  columnId: Id,
  rank: z.string(),
});

export const internalOperations = {
  workAround: operation({
    name: 'inside.workAround',
    effect: 'read',
    summary: 'Find the locks and touched files of others around a story',
    description:
      "The live locks of the story's project, those of the story first, and the conflicts of its work.",
    access: project('viewer'),
    params: z.strictObject({ storyId: StoryRef }),
    result: z.object({
      locks: z.array(Lock),
      moreLocks: z.boolean(),
      collisions: z.array(Collision),
      moreCollisions: z.boolean(),
    }),
    example: { storyId: 'WEB-2' },
  }),
  storyTouches: operation({
    name: 'inside.storyTouches',
    effect: 'read',
    summary: 'Compare the changed files of a story with its touches',
    description: 'Also suggests files that similar stories changed.',
    access: project('viewer'),
    params: z.strictObject({ storyId: StoryRef }),
    result: z.object({ touches: StoryTouches.nullable() }),
    example: { storyId: 'WEB-2' },
  }),
  observeForge: operation({
    name: 'inside.observeForge',
    effect: 'write',
    summary: 'Record an observation that a connected forge signed',
    description:
      'Does what deliveryExecutions.recordForgeObservation does, with the trust level of the delivery.',
    access: project('contributor'),
    params: z.strictObject({
      executionId: Id,
      observation: ObservationInput,
      trust: Trust,
      rev: z.int().min(0).optional(),
    }),
    result: z.object({ recorded: z.boolean(), observation: Observation, execution: Execution }),
    refusals: ['archived'],
    emits: ['execution.observed', 'execution.completed', 'story.statusChanged'],
    example: {
      executionId: '01936d5c-0000-7000-8000-000000000090',
      observation: { dedupeKey: 'delivery-1', kind: 'pr_merged', observedAt: '2026-11-21T09:30:00.000Z' },
      trust: 'verified',
    },
  }),
  tellForgeDoubt: operation({
    name: 'inside.tellForgeDoubt',
    effect: 'write',
    summary: 'Signal an ambiguous forge observation to the executions that it could be about',
    description:
      'The observation is recorded for none of them. Each execution that has not ended gets a signal of the kind forge with ambiguous set and the other executions.',
    access: project('contributor'),
    params: z.strictObject({
      projectId: ProjectRef,
      executionIds: z.array(Id).min(2).max(1_000),
      fact: z.strictObject({
        kind: ObservationKind,
        ref: z.string().nullable(),
        number: z.int().nullable(),
        url: z.string().nullable(),
      }),
    }),
    result: z.object({ told: z.int() }),
    refusals: ['archived'],
    example: {
      projectId: 'WEB',
      executionIds: ['01936d5c-0000-7000-8000-000000000090', '01936d5c-0000-7000-8000-000000000091'],
      fact: { kind: 'pr_opened', ref: 'topic', number: 7, url: null },
    },
  }),
  storeChanges: operation({
    name: 'inside.storeChanges',
    effect: 'write',
    summary: 'Store the changed files of a head of an execution',
    description: 'Only the first complete report of a source for a head is stored.',
    access: project('contributor'),
    params: z.strictObject({
      executionId: Id,
      headSha: Sha,
      baseSha: Sha.nullable(),
      source: z.enum(changesSources),
      attachmentId: Id.nullable(),
      /** The diff of all files in git's format, the files with their patches, or why there are none. */
      reported: z.union([
        z.string().max(maxChangesBytes),
        z.array(ReportedFileChange).max(maxChangedFiles),
        z.strictObject({ failure: ChangesFailure }),
      ]),
      /** True if the source left files out. */
      truncated: z.boolean().default(false),
    }),
    result: z.object({ stored: z.boolean() }),
    reachesArchived: true,
    example: {
      executionId: '01936d5c-0000-7000-8000-000000000090',
      ...{ headSha: 'abcd', baseSha: null, source: 'forge', attachmentId: null, reported: [] },
    },
  }),
  mergeGate: operation({
    name: 'inside.mergeGate',
    effect: 'read',
    summary: 'Find the unmet conditions before the work on a story may be merged',
    description: 'The review conditions for moving the story to done, for its current spec and code.',
    access: project('viewer'),
    params: z.strictObject({ storyId: StoryRef }),
    result: z.object({
      key: z.string(),
      specVersion: z.int(),
      requiredApprovals: z.int(),
      freshApprovals: z.int(),
      freshChangesRequested: z.int(),
      /** The number of verdicts that refer to an older spec or to other code. */
      staleVerdicts: z.int(),
      /** The head commit of the code under review; null if it is unknown. */
      headSha: z.string().nullable(),
    }),
    example: { storyId: 'WEB-2' },
  }),
  nextStories: operation({
    name: 'inside.nextStories',
    effect: 'read',
    summary: 'Find the stories that a caller may start next',
    description:
      'Returns stories with these statuses that pass the filters, the most urgent first and then in board order, with the reasons why each cannot start. Nothing is locked, so the caller that takes one checks again (inside.beginStory).',
    access: project('contributor'),
    params: z.strictObject({
      ...nextStoryFilters,
      statuses: z.array(StoryStatus).min(1).max(6),
      /** Restricts the search to these stories. */
      storyIds: z.array(Id).max(1_000).optional(),
      limit: z.int().min(1).max(1_000),
      /** The sort key of the last story on the previous page. */
      after: BoardPosition.optional(),
    }),
    result: z.object({
      items: z.array(
        PassedOver.pick({ storyId: true, key: true, reasons: true }).extend({
          status: StoryStatus,
          /** The paths, globs and names that the work is expected to touch. */
          touches: z.array(z.string()),
        }),
      ),
      /** The start of the next page; null on the last page. */
      next: BoardPosition.nullable(),
    }),
    example: { projectId: 'WEB', statuses: ['ready'], assignedToMe: false, moves: true, limit: 10 },
  }),
  beginStory: operation({
    name: 'inside.beginStory',
    effect: 'write',
    summary: 'Lock a story that the search for work found, and move the story to in_progress',
    description:
      "The story, and the columns it leaves and enters if it moves, stay locked until the transaction ends. The board's conditions are read after the locks are taken. If they forbid the start, or the story has another status or no longer passes the filters, nothing is moved.",
    access: project('contributor'),
    params: z.strictObject({
      ...nextStoryFilters,
      storyId: Id,
      status: StoryStatus,
      /** True if the work was sent back, so that a story in review moves too. */
      isSentBack: z.boolean().default(false),
    }),
    result: z.object({
      begins: z.boolean(),
      reasons: PassedOver.shape.reasons,
      /**
       * True if the story moved to another column while this call waited for the locks. That column is not
       * locked by this call.
       */
      moved: z.boolean(),
    }),
    refusals: ['invalid_transition', 'policy', 'wip_limit', 'archived', 'mismatched_project'],
    emits: ['story.reordered', 'story.statusChanged'],
    example: {
      projectId: 'WEB',
      assignedToMe: false,
      moves: true,
      storyId: '01936d5c-0000-7000-8000-000000000001',
      status: 'ready',
    },
  }),
  endWork: operation({
    name: 'inside.endWork',
    effect: 'write',
    summary: 'End all work in a project',
    description:
      'Frees every lease in the project, cancels every open execution, removes every lock, and notifies the lease holders.',
    access: org('admin'),
    params: z.strictObject({ projectId: ProjectRef }),
    result: z.object({ ended: z.int().describe('The executions that were open') }),
    emits: ['execution.completed'],
    example: { projectId: 'WEB' },
  }),
};
