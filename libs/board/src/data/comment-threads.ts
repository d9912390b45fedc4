/** The comments of a story as threads: pages of roots, each with all its replies and reactions. */
import { type Db, decodeCursor, pageOfRows, sqlQuery, Values } from '@muster/database';
import { type Registry, type ResultOf } from '@muster/registry';
import { z } from 'zod';
import { commentColumns, type CommentRow, type Reaction, toComment } from './comments.ts';
import { reactionColumns } from './reactions.ts';

type Threads = ResultOf<Registry['comments']['list']>;

interface ThreadRow extends CommentRow {
  readonly reactions: Reaction[] | null;
}

const ThreadCursor = z.tuple([z.uuid()]);

const columns = commentColumns.join(', ');

interface Page {
  readonly storyId: string;
  readonly includeResolved: boolean;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/**
 * A page of threads, oldest first. One statement, so that roots, replies and reactions are of one moment; the
 * reactions of a comment are few, and as JSON beside it they cost less than a row for each.
 */
export async function listThreads(db: Db, orgId: string, memberId: string, page: Page): Promise<Threads> {
  const after = decodeCursor(page.cursor, ThreadCursor);
  const values = new Values(orgId);
  const viewer = values.$(memberId);
  const story = values.storyId(page.storyId);
  const filters = [
    page.includeResolved ? '' : 'and c.resolved_at is null',
    after === undefined ? '' : `and c.id > ${values.uuid(after[0])}`,
  ];
  const rows = await db.all(
    sqlQuery<ThreadRow>(
      `with roots as materialized (
         select ${columns} from comments c
         where c.org_id = ${values.org} and c.story_id = ${story} and c.parent_id is null ${filters.join(' ')}
         order by c.id limit ${values.$(page.limit + 1)}),
       shown as (
         select * from roots
         union all
         select ${columns} from roots t join comments c on c.org_id = ${values.org} and c.parent_id = t.id)
       select c.*, (select json_agg(g) from (
           select ${reactionColumns(viewer)} from comment_reactions x
           where x.org_id = ${values.org} and x.comment_id = c.id group by x.emoji order by x.emoji) g) as reactions
       from shown c order by c.id`,
      values.list,
    ),
  );
  const replies = Map.groupBy(rows, (row) => row.parent_id);
  return pageOfRows(
    replies.get(null) ?? [],
    page.limit,
    (root) => [root.id],
    (root) => ({ ...whole(root), replies: (replies.get(root.id) ?? []).map(whole) }),
  );
}

const whole = (row: ThreadRow) => toComment(row, row.reactions ?? []);
