/**
 * What can happen. A handler says one of these in one line, and that line feeds the activity, the event
 * streams, notifications, gamification and webhooks. Past tense; data holds what the subject does not.
 */
import { z } from 'zod';
import { Id } from './values.ts';

const nothing = z.object({});
const changed = z.object({ fields: z.array(z.string()) });
const status = z.string();

export const events = {
  'project.created': nothing,
  'project.updated': changed,
  'project.archived': nothing,
  'project.unarchived': nothing,
  'project.deleted': z.object({ stories: z.int() }),
  'project.converted': z.object({ localProjectId: z.string(), epics: z.int(), stories: z.int() }),
  'column.created': z.object({ status }),
  'column.updated': changed,
  'column.archived': z.object({ movedStories: z.int() }),
  'columns.reordered': z.object({ columnIds: z.array(Id) }),
  'epic.created': nothing,
  'epic.updated': changed,
  'epic.deleted': nothing,
  'story.created': z.object({ status }),
  'story.updated': changed,
  'story.statusChanged': z.object({ from: status, to: status, columnId: Id.nullable() }),
  'story.reordered': z.object({ columnId: Id }),
  'story.gitMetaUpdated': changed,
  'story.upstreamUpdated': z.object({ provider: z.string().nullable(), externalId: z.string().nullable() }),
  'story.deleted': nothing,
  'spec.updated': z.object({ version: z.int(), linesAdded: z.int(), linesRemoved: z.int() }),
  'spec.restored': z.object({ version: z.int(), restoredVersion: z.int() }),
  'comment.created': z.object({
    commentId: Id,
    parentId: Id.nullable(),
    kind: z.string(),
    directedTo: Id.nullable(),
    mentions: z.array(Id),
  }),
  'comment.updated': z.object({ commentId: Id, mentions: z.array(Id) }),
  'comment.deleted': z.object({ commentId: Id }),
  'comment.reacted': z.object({ commentId: Id, emoji: z.string(), on: z.boolean() }),
  'comment.resolved': z.object({ commentId: Id }),
  'comment.reopened': z.object({ commentId: Id }),
} as const;

export type EventKind = keyof typeof events;
export type EventData<Kind extends EventKind> = z.input<(typeof events)[Kind]>;
export const eventKinds = Object.keys(events) as [EventKind, ...EventKind[]];

/** What an event is about. `projectId` decides who sees it: those with a role in that project; null: everyone. */
export interface Subject {
  readonly type: 'project' | 'column' | 'epic' | 'story';
  readonly id: string;
  readonly key: string | null;
  readonly title: string;
  readonly projectId: string | null;
}
