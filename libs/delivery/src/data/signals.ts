/** What a holder should know: events of others on its execution, since it was last told. */
import { type Db, of, sql } from '@muster/driver';
import { type Actor, type Signal, signalKinds } from '@muster/registry';
import { type ExecutionRow } from './executions.ts';

interface EventRow {
  readonly seq: number;
  readonly kind: Signal['kind'];
  readonly actor: Actor;
  readonly data: Record<string, unknown>;
  readonly at: string;
}

/** At most so many come with an answer, the newest; the stream has them all. */
export const mostSignals = 200;

/** As much of a question and of its answer; the thread has all of it. */
const mostShown = 4_000;
/** As much of a comment, of which there may be many at once. */
const mostOfComment = 1_000;

/** Of a question `v.data ->> 'commentId'` that was resolved: what was asked, and the newest reply; null where none is left. */
export const answered = sql.part`(select jsonb_build_object('question', left(q.body, ${sql.literal(mostShown)}), 'answer',
    (select jsonb_build_object('commentId', r.id, 'body', left(r.body, ${sql.literal(mostShown)}), 'author', r.author) from comments r
      where ${of('r')} and r.parent_id = q.id and r.body is not null order by r.id desc limit 1))
  from comments q where ${of('q')} and q.id = (v.data ->> 'commentId')::uuid)`;

/** Of a comment `v.data ->> 'commentId'`: what it says, and who says it; null where it was deleted. */
export const said = sql.part`(select jsonb_build_object('body', left(c.body, ${sql.literal(mostOfComment)}), 'author', c.author)
  from comments c where ${of('c')} and c.id = (v.data ->> 'commentId')::uuid and c.body is not null)`;

/**
 * What happened to a locked execution since its holder was last told. The row knows how far that is, so that nothing is
 * looked for where nothing is new, and what was told before is never read again.
 */
export async function listSignals(
  db: Db,
  { id, told_seq: told, last_event_seq: last }: Pick<ExecutionRow, 'id' | 'told_seq' | 'last_event_seq'>,
): Promise<EventRow[]> {
  if (told === last) return [];
  const rows = await db.all(
    sql<EventRow>`select v.seq, v.kind, v.actor, v.at,
         case v.kind when 'question_answered' then v.data || coalesce(${answered}, '{}')
           when 'new_comments' then v.data || coalesce(${said}, '{}') else v.data end as data
       from execution_events v
       where ${of('v')} and v.execution_id = ${id} and v.kind = any (${signalKinds}) and v.seq > /*guard: a holder is told once*/${told}/*end*/
       order by v.seq desc limit ${sql.literal(mostSignals)}`,
  );
  return rows.reverse();
}

/** Signals that the holder did not cause; a stop as long as it is in force. */
export function signalsFor(
  holder: { readonly memberId: string; readonly agentId: string | null },
  execution: ExecutionRow,
  events: readonly EventRow[],
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
