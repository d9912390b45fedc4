/** The comments table: find, lock and write one row. comment-threads.ts has whole threads. */
import {
  type DB,
  type Db,
  type IdOrSql,
  orgFilter,
  type Query,
  defineRecord,
  type RowOf,
  sql,
} from '@muster/driver';
import { type Comment, type Mention, type Subject } from '@muster/contract';
import { firstIdAtSql } from '@muster/tenancy';
import { type Selectable } from 'kysely';
import { toStoryEventSubject, type StoryRow } from './stories.ts';

export const comments = defineRecord('comments', 'c', {
  story_id: {},
  parent_id: {},
  kind: {},
  body: {},
  author: {},
  author_member_id: { hidden: true },
  imported_by: { initial: null },
  imported_from: { initial: null },
  via: { initial: null },
  options: {},
  directed_to: { hidden: true, initial: null },
  directed_to_agent: { hidden: true, initial: null },
  mentions: { hidden: true },
  agent_mentions: { hidden: true },
  told: { hidden: true },
  anchor: { initial: null },
  code_anchor: { initial: null },
  resolved_at: { initial: null },
  resolved_by: { initial: null },
  edited_at: { initial: null },
  deleted_at: { initial: null },
});
export type CommentRow = RowOf<typeof comments>;
export type CommentReaction = Comment['reactions'][number];

/** A comment with the columns of its story that events need. */
export type CommentInStory = CommentRow & Pick<StoryRow, 'project_id' | 'project_key' | 'number' | 'title'>;

export const toComment = (row: CommentRow, reactions: CommentReaction[]): Comment => ({
  ...comments.shown(row),
  directedTo: row.directed_to ?? row.directed_to_agent,
  mentions: [
    ...row.mentions.map((memberId): Mention => ({ memberId })),
    ...row.agent_mentions.map((agentId): Mention => ({ agentId })),
  ],
  reactions,
});

/** Returns the event subject of a comment, which is its story. */
export const toCommentedStoryEventSubject = (comment: CommentInStory): Subject =>
  toStoryEventSubject({ ...comment, id: comment.story_id });

/** Locks a comment against other writers until this transaction ends. */
export function lockComment(db: Db, id: string): Promise<CommentInStory> {
  return db.get(
    sql<CommentInStory>`select ${comments.list}, s.project_id, s.number, s.title, p.key as project_key
       from comments c join stories s on s.org_id = c.org_id and s.id = c.story_id
       join projects p on p.org_id = s.org_id and p.id = s.project_id
       where ${orgFilter('c')} and c.id = ${id} for no key update of c`,
  );
}

/** The facts about a thread that a deletion needs. */
export interface LockedThread {
  readonly comment: CommentInStory;
  /** The root of the thread, which may be the comment itself. */
  readonly root: { readonly id: string; readonly deleted_at: string | null };
  /** True if the root has replies other than this comment. */
  readonly hasOtherReplies: boolean;
}

/**
 * Locks the comment's thread. The lock on the root conflicts with the foreign key check of a new reply. A
 * reply is therefore either visible here or comes later, and is never deleted together with a root that
 * seemed to have none.
 */
export async function lockThread(db: Db, id: string): Promise<LockedThread> {
  const rootId = sql.part`coalesce((select t.parent_id from comments t where ${orgFilter('t')} and t.id = ${id}), ${id}::uuid)`;
  const [root, comment, { has_others: hasOthers }] = await Promise.all([
    db.get(
      sql<
        LockedThread['root']
      >`select c.id, c.deleted_at from comments c where ${orgFilter('c')} and c.id = ${rootId} for update`,
    ),
    lockComment(db, id),
    db.one(
      sql<{
        has_others: boolean;
      }>`select exists (select from comments r where ${orgFilter('r')} and r.parent_id = ${rootId} and r.id <> ${id}) as has_others`,
    ),
  ]);
  return { comment, root, hasOtherReplies: hasOthers };
}

/** Finds the comment that a new one replies to. */
export const findParentComment = (
  db: Db,
  id: string,
): Promise<Pick<CommentRow, 'id' | 'story_id' | 'parent_id'> | undefined> =>
  db.find(
    sql<
      Pick<Selectable<DB['comments']>, 'id' | 'story_id' | 'parent_id'>
    >`select id, story_id, parent_id from comments where ${orgFilter()} and id = ${id}`,
  );

/** The maximum number of comments that a member can send by mail within an hour. It ends loops of automatic replies. */
export const maxMailedCommentsPerHour = 30;

export interface MailedComments {
  /** True if the mail was already stored as a comment. */
  readonly isRepeated: boolean;
  /** The number of the member's mailed comments in the last hour. */
  readonly lastHour: number;
}

/**
 * Reads whether this mail was already stored, and how many were in the last hour. Concurrent calls for a member wait for
 * each other's transaction. Ids begin with their time. A mail is recognized for as long as its address accepts replies.
 */
export async function readMailedComments(
  db: Db,
  memberId: string,
  mailKey: string,
  validityDays: number,
): Promise<MailedComments> {
  await db.all(
    sql`select pg_advisory_xact_lock(hashtextextended(${`mailed comments ${memberId}`}::text, 0))`,
  );
  return db.one(
    sql<MailedComments>`select coalesce(bool_or(c.mail_key = ${mailKey}), false) as "isRepeated",
        (count(*) filter (where c.created_at > now() - interval '1 hour'))::integer as "lastHour"
      from comments c where ${orgFilter('c')} and c.author_member_id = ${memberId} and c.via = 'email'
        and c.id > ${firstIdAtSql(sql.part`now() - make_interval(days => ${sql.literal(validityDays)})`)}`,
  );
}

/** Marks a new comment as sent by mail or from Slack. The key identifies the mail or the click. */
export const markCommentAsSent = (
  id: string,
  via: NonNullable<Comment['via']>,
  key: string,
): Query<unknown> =>
  sql`update comments set via = ${via}, mail_key = ${key} where ${orgFilter()} and id = ${id}`;

export interface AnswerableQuestion extends Pick<CommentRow, 'options'> {
  readonly storyId: string;
  readonly projectId: string;
  readonly isResolved: boolean;
  /** True if a click with this key has answered the question before. */
  readonly isRepeated: boolean;
}

/** Finds and locks a question in a project that the member may see. */
export const lockQuestionForMember = (
  db: Db,
  memberId: string,
  questionId: string,
  clickKey: string,
): Promise<AnswerableQuestion | undefined> =>
  db.find(
    sql<AnswerableQuestion>`select c.story_id as "storyId", s.project_id as "projectId", c.options,
        c.resolved_at is not null as "isResolved",
        exists (select from comments r where ${orgFilter('r')} and r.parent_id = c.id and r.mail_key = ${clickKey}) as "isRepeated"
      from comments c
      join stories s on ${orgFilter('s')} and s.id = c.story_id
      join projects p on ${orgFilter('p')} and p.id = s.project_id
      join members m on ${orgFilter('m')} and m.id = ${memberId} and m.status = 'active'
      where ${orgFilter('c')} and c.id = ${questionId} and c.kind = 'question' and c.parent_id is null
        and c.deleted_at is null and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null
      for no key update of c`,
  );

export interface AnsweredQuestion {
  readonly storyKey: string;
  readonly author: string;
  readonly body: string | null;
  readonly resolvedBy: string;
  /** The last reply of those who resolved the question, until they did; null if there is none. */
  readonly answer: string | null;
}

/** Reads a resolved question. Returns undefined if it was reopened or deleted. */
export const findAnsweredQuestion = (db: Db, questionId: string): Promise<AnsweredQuestion | undefined> =>
  db.find(
    sql<AnsweredQuestion>`select p.key || '-' || s.number as "storyKey", c.author ->> 'name' as author, c.body,
        c.resolved_by ->> 'name' as "resolvedBy",
        (select r.body from comments r where ${orgFilter('r')} and r.parent_id = c.id and r.body is not null
            and r.created_at <= c.resolved_at and r.author ->> 'memberId' = c.resolved_by ->> 'memberId'
            and r.author ->> 'agentId' is not distinct from c.resolved_by ->> 'agentId'
          order by r.id desc limit 1) as answer
      from comments c
      join stories s on ${orgFilter('s')} and s.id = c.story_id
      join projects p on ${orgFilter('p')} and p.id = s.project_id
      where ${orgFilter('c')} and c.id = ${questionId} and c.resolved_at is not null and c.deleted_at is null`,
  );

/** Deletes the comment with its replies and reactions. */
export const deleteComment = (id: string): Query<unknown> =>
  sql`delete from comments where ${orgFilter()} and id = ${id}`;

/** Deletes the attachments of a comment that stays without its text. */
export const deleteAttachmentsOfComment = (commentId: string): Query<unknown> =>
  sql`delete from attachments where ${orgFilter()} and comment_id = ${commentId}`;

/** Gives an uploaded attachment its author and times of the archive from which it is imported. */
export const markAttachmentAsImported = (
  id: string,
  row: Pick<
    Selectable<DB['attachments']>,
    'author' | 'author_member_id' | 'imported_by' | 'imported_from' | 'created_at' | 'updated_at' | 'version'
  >,
): Query<unknown> =>
  sql`update attachments set author = ${row.author}, author_member_id = ${row.author_member_id}, imported_by = ${row.imported_by},
       imported_from = ${row.imported_from}, created_at = ${row.created_at}, updated_at = ${row.updated_at}, version = ${row.version}
     where ${orgFilter()} and id = ${id}`;

/** The members and agents that a text mentions, each ordered by ID. */
interface MentionedIds {
  readonly members: string[];
  readonly agents: string[];
}

/**
 * Finds the active members and agents with these handles and slugs that can see the story's project. Agents that
 * exist for long may share a name: then it means the member, else the caller's own agent, else the oldest agent.
 */
export async function findMentionedIds(
  db: Db,
  callerId: string,
  story: { readonly id: IdOrSql } | { readonly ofComment: string },
  handles: readonly string[],
): Promise<MentionedIds> {
  if (handles.length === 0) return { members: [], agents: [] };
  const storyId =
    'id' in story
      ? story.id
      : sql.part`(select c.story_id from comments c where ${orgFilter('c')} and c.id = ${story.ofComment}::uuid)`;
  const rows = await db.all(
    sql<{ id: string; is_agent: boolean }>`select n.id, n.is_agent from stories s
       join projects p on p.org_id = s.org_id and p.id = s.project_id
       cross join lateral (
         select distinct on (n.name) n.* from (
           select m.handle as name, m.id, m.id as member_id, false as is_agent from members m
           where ${orgFilter('m')} and m.handle = any (${handles}::text[])
           union all
           select a.slug, a.id, a.member_id, true from agents a
           where ${orgFilter('a')} and a.slug = any (${handles}::text[]) and a.retired_at is null) n
         join members m on ${orgFilter('m')} and m.id = n.member_id and m.status = 'active'
           and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null
         order by n.name, n.is_agent, n.member_id = ${callerId}::uuid desc, n.id) n
       where ${orgFilter('s')} and s.id = ${storyId}
       order by n.id`,
  );
  const idsOf = (isAgent: boolean) => rows.filter((row) => row.is_agent === isAgent).map((row) => row.id);
  return { members: idsOf(false), agents: idsOf(true) };
}
