import { z } from 'zod';
import {
  project,
  surfacesWithoutTool,
  operation,
  pageParams,
  pageSchemaOf,
  ActorParam,
  Deleted,
  ExpectedVersion,
  Id,
  StoryRef,
  Anchor,
  AnswerOptions,
  CodeAnchor,
  Comment,
  CommentBody,
  Emoji,
  Thread,
} from '@muster/contract';

const example = { commentId: '01936d5c-0000-7000-8000-000000000003' };

export const comments = {
  create: operation({
    name: 'comments.create',
    effect: 'write',
    summary: 'Comment on a story',
    keywords: 'ask question reply answer write note message mention discuss decision say to tell',
    description:
      'Adds a comment, a question (directedTo asks one member or agent) or a decision. @handle mentions a member or agent. A reply to a reply is added to the root comment, so threads are one level deep.',
    access: project('viewer'),
    params: z
      .strictObject({
        storyId: StoryRef,
        body: CommentBody,
        kind: z.enum(['comment', 'question', 'decision']).default('comment'),
        options: AnswerOptions.default([]),
        directedTo: ActorParam.optional(),
        parentId: Id.optional(),
        anchor: Anchor.optional(),
        codeAnchor: CodeAnchor.optional(),
      })
      .refine(
        ({ options, kind, parentId }) =>
          options.length === 0 || (kind === 'question' && parentId === undefined),
        {
          error: 'can be given only for a question that begins a thread',
          path: ['options'],
        },
      ),
    result: z.object({ comment: Comment }),
    refusals: ['archived', 'mismatched_project', 'no_role_in_project'],
    emits: ['comment.created'],
    example: { storyId: 'WEB-1', body: 'Do we keep the password as a fallback?', kind: 'question' },
  }),
  list: operation({
    name: 'comments.list',
    effect: 'read',
    summary: 'List the comments of a story',
    keywords: 'read discussion thread replies answers questions conversation',
    description:
      'Root comments, oldest first, each with its reactions and its first replies: at most 20, fewer if they are long. If repliesCursor is not null there are more replies: send it back as cursor with threadId, or call comments.replies.',
    access: project('viewer'),
    params: z
      .strictObject({
        storyId: StoryRef,
        includeResolved: z.boolean().default(true),
        threadId: Id.optional().meta({ description: 'Only the thread with this root comment' }),
        repliesCursor: pageParams.cursor,
        ...pageParams,
      })
      .refine((params) => params.repliesCursor === undefined || params.threadId !== undefined, {
        error: 'belongs to one thread; give its threadId too',
        path: ['repliesCursor'],
      }),
    result: pageSchemaOf(Thread),
    example: { storyId: 'WEB-1' },
  }),
  replies: operation({
    name: 'comments.replies',
    effect: 'read',
    summary: 'List the replies to a comment',
    description:
      'Oldest first, with their reactions. commentId is the root of the thread, and cursor may be its repliesCursor. A reply has no replies of its own.',
    access: project('viewer'),
    params: z.strictObject({ commentId: Id, ...pageParams }),
    result: pageSchemaOf(Comment),
    surfaces: surfacesWithoutTool,
    example,
  }),
  update: operation({
    name: 'comments.update',
    effect: 'write',
    idempotent: true,
    summary: 'Edit your own comment',
    keywords: 'change fix typo',
    description:
      'Only the author may edit a comment. Members and agents mentioned for the first time are notified.',
    access: project('viewer', 'author'),
    params: z.strictObject({ commentId: Id, body: CommentBody, expectedVersion: ExpectedVersion }),
    result: z.object({ comment: Comment }),
    refusals: ['version_mismatch', 'archived', 'tombstone'],
    emits: ['comment.updated'],
    example: { ...example, body: 'Do we keep the password as a fallback for a year?' },
  }),
  delete: operation({
    name: 'comments.delete',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Delete a comment',
    keywords: 'remove take back message note remark',
    description:
      'You can delete your own comments, and leads of the project can delete any. A root comment with replies stays, without its text.',
    access: project('viewer', 'author', 'projectLead'),
    params: z.strictObject({ commentId: Id }),
    result: Deleted,
    refusals: ['archived'],
    emits: ['comment.deleted'],
    example,
  }),
  react: operation({
    name: 'comments.react',
    effect: 'write',
    idempotent: true,
    summary: 'React to a comment with an emoji',
    keywords: 'thumbs up like emoji',
    description: 'on: false removes the reaction. Repeating the call has no effect.',
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
    idempotent: true,
    summary: 'Resolve or reopen a thread',
    keywords: 'answer question done close thread settle reopen',
    description: 'commentId is the root of the thread. Repeating the call has no effect.',
    access: project('viewer'),
    params: z.strictObject({ commentId: Id, resolved: z.boolean().default(true) }),
    result: z.object({ comment: Comment }),
    refusals: ['archived', 'not_a_root'],
    emits: ['comment.resolved', 'comment.reopened'],
    example,
  }),
};
