/** The section of a story's open threads. */
import { orgFilter, sql } from '@muster/driver';
import { type OpenThread } from '@muster/contract';
import { type CommentRow, comments, toComment } from '../comments.ts';
import { type ContextScope, type SectionReader, toCompleteSection } from './scope.ts';

const maxThreads = 100;
const maxRepliesPerThread = 100;

interface OpenThreadRow extends CommentRow {
  readonly root_id: string;
  /** The number of comments and threads read, including those beyond the limits. */
  readonly seen: number;
}

function toOpenComment(row: OpenThreadRow): Omit<OpenThread, 'replies'> {
  const { reactions: _, ...comment } = toComment(row, []);
  return comment;
}

/**
 * Reads the newest threads with their newest replies, shown oldest first. The statement adds up bytes from
 * the most useful comment down, and does not read texts that would not fit.
 */
export const readOpenThreads: SectionReader<'openThreads'> = async ({
  db,
  storyId,
  maxBytes,
}: ContextScope) => {
  const rows = await db.all(
    sql<OpenThreadRow>`with roots as materialized (
         select ${comments.list} from comments c
         where ${orgFilter('c')} and c.story_id = ${storyId}
           and c.parent_id is null and c.resolved_at is null
         order by c.id desc limit ${sql.literal(maxThreads + 1)}),
       found as (
         select r.*, r.id as root_id from roots r
         union all
         select c.*, r.id as root_id from roots r cross join lateral (
           select ${comments.list} from comments c where ${orgFilter('c')} and c.parent_id = r.id
           order by c.id desc limit ${sql.literal(maxRepliesPerThread + 1)}) c),
       weighed as (
         select f.*, count(*) over ()::int as seen, sum(octet_length(f.body)) over (
           order by f.root_id desc, f.parent_id nulls first, f.id desc
           rows between unbounded preceding and 1 preceding) as before
         from found f)
       select * from weighed w where coalesce(w.before, 0) <= ${maxBytes} order by w.id`,
  );
  const inThread = Map.groupBy(rows, (row) => row.root_id);
  let more = rows.length < (rows[0]?.seen ?? 0);
  const threads = [...inThread].flatMap(([rootId, thread]): OpenThread[] => {
    const root = thread.find((row) => row.id === rootId);
    const replies = thread.filter((row) => row.id !== rootId);
    if (replies.length > maxRepliesPerThread) more = true;
    if (root === undefined) return [];
    return [{ ...toOpenComment(root), replies: replies.slice(-maxRepliesPerThread).map(toOpenComment) }];
  });
  threads.sort((one, other) => (one.id < other.id ? -1 : 1));
  if (threads.length > maxThreads) more = true;
  return { value: threads.slice(-maxThreads), hasMore: more };
};

/**
 * Reads a reviewer's request for changes with the open threads. It reads the threads only if there is such a
 * request.
 */
export const readRequestedChanges: SectionReader<'rework'> = async (scope) => {
  const requested = (await scope.loadExecution())?.rework ?? null;
  if (requested === null) return toCompleteSection(null);
  const { value, hasMore } = await readOpenThreads(scope);
  return { value: { ...requested, openThreads: value ?? [] }, hasMore };
};
