import { z } from 'zod';
import { project } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { Deleted, ExpectedVersion, Id, StoryRef } from '../kernel/values.ts';
import { Anchor, Comment, CommentBody, Emoji, Thread } from '../records/comment.ts';

const example = { commentId: '01936d5c-0000-7000-8000-000000000003' };

export const comments = {
  create: operation({
    name: 'comments.create',
    effect: 'write',
    summary: 'Comment on a story',
    description: `A comment, a question (to one member with directedTo) or a decision. @handle mentions. A reply to a reply hangs under the root, so threads are one level deep.`,
    access: project('viewer'),
    params: z.strictObject({
      storyId: StoryRef,
      body: CommentBody,
      kind: z.enum(['comment', 'question', 'decision']).default('comment'),
      directedTo: Id.optional(),
      parentId: Id.optional(),
      anchor: Anchor.optional(),
    }),
    result: z.object({ comment: Comment }),
    refusals: ['archived', 'mismatched_project'],
    emits: ['comment.created'],
    example: { storyId: 'WEB-1', body: 'Do we keep the password as a fallback?', kind: 'question' },
  }),
  list: operation({
    name: 'comments.list',
    effect: 'read',
    summary: 'List the comments of a story',
    description: `Root comments oldest first, each with all its replies and reactions.`,
    access: project('viewer'),
    params: z.strictObject({ storyId: StoryRef, includeResolved: z.boolean().default(true), ...page }),
    result: pageOf(Thread),
    example: { storyId: 'WEB-1' },
  }),
  update: operation({
    name: 'comments.update',
    effect: 'write',
    summary: 'Edit your own comment',
    description: `Only its author may. People mentioned for the first time are told.`,
    access: project('viewer'),
    params: z.strictObject({ commentId: Id, body: CommentBody, expectedVersion: ExpectedVersion }),
    result: z.object({ comment: Comment }),
    refusals: ['version_mismatch', 'archived', 'tombstone'],
    emits: ['comment.updated'],
    example: { ...example, body: 'Do we keep the password as a fallback for a year?' },
  }),
  delete: operation({
    name: 'comments.delete',
    effect: 'write',
    summary: 'Delete a comment',
    description: `Your own, or anybody's as a lead of the project. A root with replies stays as a tombstone without text.`,
    access: project('viewer'),
    params: z.strictObject({ commentId: Id }),
    result: Deleted,
    refusals: ['archived'],
    emits: ['comment.deleted'],
    example,
  }),
  react: operation({
    name: 'comments.react',
    effect: 'write',
    summary: 'React to a comment with an emoji',
    description: `on: false takes the reaction back. Repeating it changes nothing.`,
    access: project('viewer'),
    params: z.strictObject({ commentId: Id, emoji: Emoji, on: z.boolean().default(true) }),
    result: z.object({ comment: Comment }),
    refusals: ['archived', 'tombstone', 'limit_exceeded'],
    emits: ['comment.reacted'],
    example: { ...example, emoji: '👍' },
  }),
  resolve: operation({
    name: 'comments.resolve',
    effect: 'write',
    summary: 'Resolve a thread or open it again',
    description: `commentId is the thread's root. Repeating it changes nothing.`,
    access: project('viewer'),
    params: z.strictObject({ commentId: Id, resolved: z.boolean().default(true) }),
    result: z.object({ comment: Comment }),
    refusals: ['archived', 'not_a_root'],
    emits: ['comment.resolved', 'comment.reopened'],
    example,
  }),
};
