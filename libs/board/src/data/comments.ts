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
import { type Comment, type Subject } from '@muster/registry';
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
  directed_to: { initial: null },
  mentions: {},
  told: { hidden: true },
  anchor: { initial: null },
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

/** Deletes the comment with its replies and reactions. */
export const deleteComment = (id: string): Query<unknown> =>
  sql`delete from comments where ${orgFilter()} and id = ${id}`;

/** Finds the active members among these handles who can see the story's project, ordered by ID. */
export async function findMentionedMemberIds(
  db: Db,
  story: { readonly id: IdOrSql } | { readonly ofComment: string },
  handles: readonly string[],
): Promise<string[]> {
  if (handles.length === 0) return [];
  const storyId =
    'id' in story
      ? story.id
      : sql.part`(select c.story_id from comments c where ${orgFilter('c')} and c.id = ${story.ofComment}::uuid)`;
  const rows = await db.all(
    sql<{ id: string }>`select m.id from stories s
       join projects p on p.org_id = s.org_id and p.id = s.project_id
       join members m on m.org_id = s.org_id and m.status = 'active' and m.handle = any (${handles}::text[])
       where ${orgFilter('s')} and s.id = ${storyId}
         and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null
       order by m.id`,
  );
  return rows.map((row) => row.id);
}
