/** The comments table: one row, found, locked, written. Whole threads are in comment-threads.ts. */
import {
  type DB,
  type Db,
  type Param,
  type Query,
  query,
  sqlQuery,
  statement,
  Values,
} from '@muster/database';
import { type Comment, type Subject } from '@muster/registry';
import { notFound } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { aboutStory, type StoryRow } from './stories.ts';

export type CommentRow = Omit<Selectable<DB['comments']>, 'org_id'>;
export type Reaction = Comment['reactions'][number];

/** A comment with what has to be known of its story to speak of it. */
export type CommentInStory = CommentRow & Pick<StoryRow, 'project_id' | 'project_key' | 'number' | 'title'>;

export const commentColumns = [
  'c.id',
  'c.story_id',
  'c.parent_id',
  'c.kind',
  'c.body',
  'c.author',
  'c.author_member_id',
  'c.directed_to',
  'c.mentions',
  'c.anchor',
  'c.resolved_at',
  'c.resolved_by',
  'c.edited_at',
  'c.deleted_at',
  'c.created_at',
  'c.updated_at',
  'c.version',
] as const;

export const toComment = (row: CommentRow, reactions: Reaction[]): Comment => ({
  id: row.id,
  storyId: row.story_id,
  parentId: row.parent_id,
  kind: row.kind,
  body: row.body,
  author: row.author,
  directedTo: row.directed_to,
  mentions: row.mentions,
  anchor: row.anchor,
  reactions,
  resolvedAt: row.resolved_at,
  resolvedBy: row.resolved_by,
  editedAt: row.edited_at,
  deletedAt: row.deleted_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

/** What happens to a comment happens to its story. */
export const aboutStoryOf = (comment: CommentInStory): Subject =>
  aboutStory({ ...comment, id: comment.story_id });

const commentInStory = query
  .selectFrom('comments as c')
  .innerJoin('stories as s', (join) =>
    join.onRef('s.org_id', '=', 'c.org_id').onRef('s.id', '=', 'c.story_id'),
  )
  .innerJoin('projects as p', (join) =>
    join.onRef('p.org_id', '=', 's.org_id').onRef('p.id', '=', 's.project_id'),
  )
  .select([...commentColumns, 's.project_id', 's.number', 's.title', 'p.key as project_key']);

interface ById {
  orgId: string;
  id: string;
}

const lockById = statement((param: Param<ById>) =>
  commentInStory.where('c.org_id', '=', param('orgId')).where('c.id', '=', param('id')).forNoKeyUpdate('c'),
);
/** Locks a comment against other writers until this transaction ends. */
export async function lockComment(db: Db, orgId: string, id: string): Promise<CommentInStory> {
  const comment = await db.find(lockById({ orgId, id }));
  if (comment === undefined) throw notFound();
  return comment;
}

/** What a removal has to know of the comment's thread. */
export interface LockedThread {
  readonly comment: CommentInStory;
  /** The comment itself, where it is one. */
  readonly root: { readonly id: string; readonly deleted_at: string | null };
  /** Whether the root has replies, this comment not counted. */
  readonly hasOthers: boolean;
}

/**
 * Locks the comment's thread. The root with the lock that a new reply's foreign key waits for: so a reply is either
 * seen here, or comes after, and never goes with a root that seemed to have none.
 */
export async function lockThread(db: Db, orgId: string, id: string): Promise<LockedThread> {
  const rootId = 'coalesce((select t.parent_id from comments t where t.org_id = $1 and t.id = $2), $2)';
  const [root, comment, { has_others: hasOthers }] = await Promise.all([
    db.find(
      sqlQuery<LockedThread['root']>(
        `select c.id, c.deleted_at from comments c where c.org_id = $1 and c.id = ${rootId} for update`,
        [orgId, id],
      ),
    ),
    lockComment(db, orgId, id),
    db.one(
      sqlQuery<{ has_others: boolean }>(
        `select exists (select from comments r where r.org_id = $1 and r.parent_id = ${rootId} and r.id <> $2) as has_others`,
        [orgId, id],
      ),
    ),
  ]);
  if (root === undefined) throw notFound();
  return { comment, root, hasOthers };
}

/** The comment that a new one replies to. */
export const findParent = (
  db: Db,
  orgId: string,
  id: string,
): Promise<Pick<CommentRow, 'id' | 'story_id' | 'parent_id'> | undefined> =>
  db.find(parentById({ orgId, id }));

const parentById = statement((param: Param<ById>) =>
  query
    .selectFrom('comments')
    .select(['id', 'story_id', 'parent_id'])
    .where('org_id', '=', param('orgId'))
    .where('id', '=', param('id')),
);

const insert = statement((param: Param<CommentRow & { org_id: string }>) =>
  query.insertInto('comments').values({
    org_id: param('org_id'),
    id: param('id'),
    story_id: param('story_id'),
    parent_id: param('parent_id'),
    kind: param('kind'),
    body: param('body'),
    author: param('author'),
    author_member_id: param('author_member_id'),
    directed_to: param('directed_to'),
    mentions: param('mentions'),
    anchor: param('anchor'),
    created_at: param('created_at'),
    updated_at: param('updated_at'),
  }),
);

export const insertComment = (orgId: string, comment: CommentRow): Query<unknown> =>
  insert({ ...comment, org_id: orgId });

/** The row after the changes: the next version, changed `at`. */
export const changedComment = <Row extends CommentRow>(
  row: Row,
  changes: Partial<CommentRow>,
  at: string,
): Row => ({
  ...row,
  ...changes,
  updated_at: at,
  version: row.version + 1,
});

const update = statement((param: Param<CommentRow & { org_id: string }>) =>
  query
    .updateTable('comments')
    .set({
      body: param('body'),
      mentions: param('mentions'),
      resolved_at: param('resolved_at'),
      resolved_by: param('resolved_by'),
      edited_at: param('edited_at'),
      deleted_at: param('deleted_at'),
      updated_at: param('updated_at'),
      version: param('version'),
    })
    .where('org_id', '=', param('org_id'))
    .where('id', '=', param('id')),
);

/** Writes what can change of a locked comment. */
export const setComment = (orgId: string, comment: CommentRow): Query<unknown> =>
  update({ ...comment, org_id: orgId });

/** The comment goes, and with it its replies and reactions. */
export const deleteComment = (orgId: string, id: string): Query<unknown> =>
  query.deleteFrom('comments').where('org_id', '=', orgId).where('id', '=', id);

/** Of these handles, the active members who can see the story's project; in the order of their ids. */
export async function findMentioned(
  db: Db,
  orgId: string,
  story: { readonly ref: string } | { readonly ofComment: string },
  handles: readonly string[],
): Promise<string[]> {
  if (handles.length === 0) return [];
  const values = new Values(orgId);
  const storyId =
    'ref' in story
      ? values.storyId(story.ref)
      : `(select c.story_id from comments c where c.org_id = ${values.org} and c.id = ${values.uuid(story.ofComment)})`;
  const rows = await db.all(
    sqlQuery<{ id: string }>(
      `select m.id from stories s
       join projects p on p.org_id = s.org_id and p.id = s.project_id
       join members m on m.org_id = s.org_id and m.status = 'active' and m.handle = any (${values.$(handles)}::text[])
       where s.org_id = ${values.org} and s.id = ${storyId}
         and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null
       order by m.id`,
      values.list,
    ),
  );
  return rows.map((row) => row.id);
}
