import { z } from 'zod';
import {
  Id,
  multilineText,
  hasVisibleCharacter,
  nameText,
  recordStamps,
  boundedText,
  Time,
} from '../kernel/values.ts';
import { Actor } from './member.ts';
import { Sha } from './story.ts';

/** An answer that a question offers. Slack shows at most 75 characters on a button. */
const AnswerOption = nameText(75);
export const AnswerOptions = z
  .array(AnswerOption)
  .max(5)
  .refine((options) => new Set(options).size === options.length, 'must differ from each other');

export const CommentBody = multilineText(20_000, 1).refine(hasVisibleCharacter, 'must not be blank');

const isEmoji = (value: string): boolean => /^\p{RGI_Emoji}$/v.test(value);

/** Returns the form of an emoji in Unicode's own list. Some keyboards add or omit the variation selector. */
const normalizeEmoji = (value: string): string => {
  const bare = value.replace(/\u{FE0F}$/u, '');
  return [value, bare, `${bare}\u{FE0F}`].find(isEmoji) ?? value;
};

/** One emoji as people see it. 32 UTF-16 units are enough for every sequence in Unicode's own list. */
export const Emoji = boundedText(32, 1)
  .refine((value) => isEmoji(normalizeEmoji(value)), 'must be one emoji')
  .overwrite(normalizeEmoji);

/** The position in a spec to which a comment refers. */
export const Anchor = z.strictObject({ specVersion: z.int().min(1), line: z.int().min(1).max(1_000_000) });

/** The line of a changed file to which a comment refers, before (old) or after (new) the change. */
export const CodeAnchor = z.strictObject({
  path: boundedText(4_096, 1),
  line: z.int().min(1).max(10_000_000),
  side: z.enum(['old', 'new']).default('new'),
  headSha: Sha,
});
export type CodeAnchor = z.infer<typeof CodeAnchor>;

/** A mentioned member or agent. */
export const Mention = z.union([z.object({ memberId: Id }), z.object({ agentId: Id })]);
export type Mention = z.infer<typeof Mention>;

const Reaction = z.object({ emoji: z.string(), count: z.int(), mine: z.boolean() });

export const Comment = z
  .object({
    id: Id,
    storyId: Id,
    parentId: Id.nullable(),
    kind: z.enum(['comment', 'question', 'decision']),
    body: z.string().nullable().describe('null for a deleted comment, which stays because it has replies'),
    author: Actor,
    importedBy: Actor.nullable().describe('Who imported it; null if it was written in Muster'),
    importedFrom: z.string().nullable().describe('The tracker from which it was imported'),
    via: z
      .enum(['email', 'slack'])
      .nullable()
      .describe(
        'email if its author wrote it as a reply to a notification mail, slack if they chose an answer in Slack; null for all others',
      ),
    options: z.array(z.string()).describe('The answers that a question offers, at most 5'),
    directedTo: Id.nullable().describe('The member or agent who is addressed'),
    mentions: z.array(Mention),
    anchor: z.object({ specVersion: z.int(), line: z.int() }).nullable(),
    codeAnchor: z
      .object({ path: z.string(), line: z.int(), side: z.enum(['old', 'new']), headSha: z.string() })
      .nullable()
      .describe('The line of a changed file that the comment is about'),
    reactions: z.array(Reaction),
    resolvedAt: Time.nullable(),
    resolvedBy: Actor.nullable(),
    editedAt: Time.nullable(),
    deletedAt: Time.nullable(),
    ...recordStamps,
  })
  .meta({ id: 'Comment' });
export type Comment = z.infer<typeof Comment>;

/** The maximum number of replies that are included with a root comment. */
export const maxRepliesShown = 20;

/** A root comment with its first replies, oldest first. */
export const Thread = Comment.extend({
  replies: z.array(Comment).describe(`The first replies, at most ${maxRepliesShown}`),
  repliesCursor: z
    .string()
    .nullable()
    .describe('null if these are all replies; otherwise the cursor of the next ones'),
}).meta({ id: 'Thread' });
