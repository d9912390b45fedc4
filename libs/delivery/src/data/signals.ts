/** What a holder should know: events of others on its execution, since it was last told. */
import { type Db, sqlQuery } from '@muster/database';
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

/**
 * Rides with the statements that lock: where the execution stands is looked up in it, once, so that what was told before
 * is never read again, however long the work takes.
 */
export async function listSignals(db: Db, orgId: string, executionId: string): Promise<EventRow[]> {
  const rows = await db.all(
    sqlQuery<EventRow>(
      `select v.seq, v.kind, v.actor, v.data, v.at from execution_events v
       where v.org_id = $1 and v.execution_id = $2 and v.kind = any ($3)
         and v.seq > (select e.told_seq from executions e where e.org_id = $1 and e.id = $2)
       order by v.seq desc limit $4`,
      [orgId, executionId, signalKinds, mostSignals],
    ),
  );
  return rows.reverse();
}

/** Those that the holder did not cause; a stop stands until it is followed. */
export function signalsFor(
  holder: { readonly memberId: string; readonly agentId: string | null },
  execution: ExecutionRow,
  events: readonly EventRow[],
): Signal[] {
  const isOwn = ({ memberId, agentId }: Actor): boolean =>
    memberId === holder.memberId && agentId === holder.agentId;
  const news = events
    .filter((event) => event.kind === 'stop_requested' || !isOwn(event.actor))
    .map(({ kind, seq, at, data }): Signal => ({ kind, seq, at, data }));
  const stop = execution.stop_requested;
  if (stop === null || news.some(({ kind }) => kind === 'stop_requested')) return news;
  return [
    { kind: 'stop_requested', seq: stop.seq, at: stop.at, data: { reason: stop.reason, by: stop.by } },
    ...news,
  ];
}
