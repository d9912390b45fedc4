/** Lists signals for a holder: events of others on its execution since its last answer. */
import { type Db, orgFilter, sql } from '@muster/driver';
import { type Actor, type Signal, signalKinds } from '@muster/contract';
import { type ExecutionRow } from './executions.ts';

interface SignalEventRow {
  readonly seq: number;
  readonly kind: Signal['kind'];
  readonly actor: Actor;
  readonly data: Record<string, unknown>;
  readonly at: string;
}

/** The maximum number of signals in an answer. The newest are returned, and the stream has all of them. */
export const maxSignals = 200;

/** The maximum number of characters of a question and of its answer. The thread has the full text. */
const maxQuestionChars = 4_000;
/**
 * The maximum number of characters of a comment. It is lower than that of a question, because one answer may
 * contain many comments.
 */
const maxCommentChars = 1_000;

/** SQL for the question of event `v` and its newest reply; null if the question was deleted. */
export const questionAndAnswerSql = sql.part`(select jsonb_build_object('question', left(q.body, ${sql.literal(maxQuestionChars)}), 'answer',
    (select jsonb_build_object('commentId', r.id, 'body', left(r.body, ${sql.literal(maxQuestionChars)}), 'author', r.author) from comments r
      where ${orgFilter('r')} and r.parent_id = q.id and r.body is not null order by r.id desc limit 1))
  from comments q where ${orgFilter('q')} and q.id = (v.data ->> 'commentId')::uuid)`;

/** SQL for the body and author of the comment of event `v`; null if the comment was deleted. */
export const commentSql = sql.part`(select jsonb_build_object('body', left(c.body, ${sql.literal(maxCommentChars)}), 'author', c.author)
  from comments c where ${orgFilter('c')} and c.id = (v.data ->> 'commentId')::uuid and c.body is not null)`;

/**
 * Lists events of a locked execution since its holder's last answer. The row stores the number of the last
 * delivered event. If there is no newer event, no query is sent. Delivered events are never read again.
 */
export async function listUndeliveredEvents(
  db: Db,
  { id, told_seq: told, last_event_seq: last }: Pick<ExecutionRow, 'id' | 'told_seq' | 'last_event_seq'>,
): Promise<SignalEventRow[]> {
  if (told === last) return [];
  const rows = await db.all(
    sql<SignalEventRow>`select v.seq, v.kind, v.actor, v.at,
         case v.kind when 'question_answered' then v.data || coalesce(${questionAndAnswerSql}, '{}')
           when 'new_comments' then v.data || coalesce(${commentSql}, '{}') else v.data end as data
       from execution_events v
       where ${orgFilter('v')} and v.execution_id = ${id} and v.kind = any (${signalKinds}) and v.seq > /*guard: a holder is told once*/${told}/*end*/
       order by v.seq desc limit ${sql.literal(maxSignals)}`,
  );
  return rows.reverse();
}

/** Returns the signals that the holder did not cause itself. A stop is included as long as it is in force. */
export function signalsFor(
  holder: { readonly memberId: string; readonly agentId: string | null },
  execution: ExecutionRow,
  events: readonly SignalEventRow[],
): Signal[] {
  const isOwn = ({ memberId, agentId }: Actor): boolean =>
    memberId === holder.memberId && agentId === holder.agentId;
  const stop = execution.stop_requested;
  const news = events
    .filter(({ kind, actor }) => (kind === 'stop_requested' ? stop !== null : !isOwn(actor)))
    .map(({ kind, seq, at, data }): Signal => ({ kind, seq, at, data }));
  if (stop === null || news.some(({ kind }) => kind === 'stop_requested')) return news;
  return [
    { kind: 'stop_requested', seq: stop.seq, at: stop.at, data: { reason: stop.reason, by: stop.by } },
    ...news,
  ];
}
