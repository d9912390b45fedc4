/** Lists comments as threads: pages of roots with their first replies, and pages of one root's replies. */
import {
  CursorId,
  type Db,
  decodeCursor,
  encodeCursor,
  type IdOrSql,
  orgFilter,
  pageOfRows,
  type Part,
  sql,
  limitToPageBytes,
} from '@muster/driver';
import { maxRepliesShown, type ParamsOf, type ResultOf } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { z } from 'zod';
import { type CommentRow, comments, type CommentReaction, toComment } from './comments.ts';
import { reactionColumns } from './reactions.ts';

type ThreadPage = ResultOf<BoardRegistry['comments']['list']>;
type ReplyPage = ResultOf<BoardRegistry['comments']['replies']>;

interface CommentWithReactionsRow extends CommentRow {
  readonly reactions: CommentReaction[] | null;
}
interface ThreadRow extends CommentWithReactionsRow {
  /** True if more replies follow this one; null for a root. */
  readonly goes_on: boolean | null;
}

/** The cursor of roots, and of one root's replies. */
const CommentCursor = z.tuple([CursorId]);

/**
 * The maximum bytes of replies per thread, a quarter of a page. A thread with many replies therefore fits
 * into a page.
 */
const maxReplyBytesPerThread = 256 * 1024;

/**
 * SQL for the reactions to a comment `c`. They are few, and one JSON column costs less than a row for each.
 */
const selectReactionsAsSeenBy = (memberId: string): Part =>
  sql.part`(select json_agg(g) from (
     select ${reactionColumns(sql.part`${memberId}`)} from comment_reactions x
     where ${orgFilter('x')} and x.comment_id = c.id group by x.emoji order by x.emoji) g) as reactions`;

/**
 * Lists a page of threads, oldest first. One statement reads roots, replies and reactions from the same
 * snapshot. It does not read the text of comments beyond the page.
 */
export async function listThreads(
  db: Db,
  memberId: string,
  storyId: IdOrSql,
  page: ParamsOf<BoardRegistry['comments']['list']>,
): Promise<ThreadPage> {
  const after = decodeCursor(page.cursor, CommentCursor);
  const repliesAfter = decodeCursor(page.repliesCursor, CommentCursor);
  const filters = [
    page.includeResolved ? sql.part`true` : sql.part`c.resolved_at is null`,
    page.threadId === undefined ? sql.part`true` : sql.part`c.id = ${page.threadId}::uuid`,
    after === undefined ? sql.part`true` : sql.part`c.id > ${after[0]}::uuid`,
  ];
  const later = repliesAfter === undefined ? sql.empty : sql.part`and c.id > ${repliesAfter[0]}::uuid`;
  const roots = sql.part`select ${comments.list}, coalesce(octet_length(c.body), 0) + coalesce(
      (select sum(octet_length(p.body)) from replies p where p.parent_id = c.id), 0) as bytes from roots c`;
  const rows = await db.all(
    sql<ThreadRow>`with roots as materialized (
         select ${comments.list} from comments c
         where ${orgFilter('c')} and c.story_id = ${storyId} and c.parent_id is null and ${sql.join(filters, ' and ')}
         order by c.id limit ${page.limit + 1}),
       replies as materialized (
         select p.* from roots t cross join lateral (
           select c.*, lead(c.id) over w is not null as goes_on, row_number() over w as nth,
             coalesce(sum(octet_length(c.body)) over (w rows between unbounded preceding and 1 preceding), 0) as before
           from (select ${comments.list} from comments c
             where ${orgFilter('c')} and c.parent_id = t.id ${later}
             order by c.id limit ${sql.literal(maxRepliesShown + 1)}) c
           window w as (order by c.id)) p
         where p.nth <= ${sql.literal(maxRepliesShown)} and p.before < ${sql.literal(maxReplyBytesPerThread)}),
       fitting as materialized (${limitToPageBytes(roots, sql.part`q.bytes`, sql.part`q.id`)}),
       shown as (
         select ${comments.list}, null::boolean as goes_on from fitting c
         union all
         select ${comments.list}, c.goes_on from replies c where c.parent_id in (select f.id from fitting f))
       select c.*, ${selectReactionsAsSeenBy(memberId)} from shown c order by c.id`,
  );
  const replies = Map.groupBy(rows, (row) => row.parent_id);
  return pageOfRows(
    replies.get(null) ?? [],
    page.limit,
    (root) => [root.id],
    (root) => {
      const first = replies.get(root.id) ?? [];
      const last = first.at(-1);
      return {
        ...toCommentWithReactions(root),
        replies: first.map(toCommentWithReactions),
        repliesCursor: last?.goes_on === true ? encodeCursor([last.id]) : null,
      };
    },
  );
}

/** Lists a page of the replies to a comment, oldest first. */
export async function listReplies(
  db: Db,
  memberId: string,
  { commentId, limit, cursor }: ParamsOf<BoardRegistry['comments']['replies']>,
): Promise<ReplyPage> {
  const after = decodeCursor(cursor, CommentCursor);
  const later = after === undefined ? sql.empty : sql.part`and c.id > ${after[0]}::uuid`;
  const replies = sql.part`select ${comments.list} from comments c
    where ${orgFilter('c')} and c.parent_id = ${commentId}::uuid ${later}
    order by c.id limit ${limit + 1}`;
  const rows = await db.all(
    sql<CommentWithReactionsRow>`select ${comments.list}, ${selectReactionsAsSeenBy(memberId)}
       from (${limitToPageBytes(replies, sql.part`octet_length(q.body)`, sql.part`q.id`)}) c order by c.id`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toCommentWithReactions);
}

const toCommentWithReactions = (row: CommentWithReactionsRow) => toComment(row, row.reactions ?? []);
