/**
 * The event streams of executions. A counter on the execution's row numbers the events: gapless, and in
 * commit order.
 */
import { type Db, orgFilter, currentOrgId, type Part, sql, limitToPageBytes } from '@muster/driver';
import { type ExecutionEvent, type ListedRun, maxRunSteps } from '@muster/contract';
import { type ExecutionEventKind } from './states.ts';

/** An event of an execution's stream. */
export interface NewExecutionEvent {
  readonly kind: ExecutionEventKind;
  readonly data: Record<string, unknown>;
}

/**
 * Returns the SQL that appends events to streams; no other statement does so. `news` is a set of `(id, seq,
 * kind, data, at)`. The statement with this SQL also locks the execution rows and updates the event numbers
 * stored in them.
 */
export const appendEventsSql = (newEventsSql: Part, actor: unknown): Part =>
  sql.part`insert into execution_events (org_id, execution_id, seq, kind, actor, data, at)
   select ${currentOrgId}, n.id, n.seq, n.kind, ${actor}::jsonb, n.data, n.at from ${newEventsSql} n`;

/**
 * Lists the events after `afterSeq`, in order. Numbers have no gaps, so no event can later appear before one
 * that was read.
 */
export async function listEvents(
  db: Db,
  executionId: string,
  { afterSeq, limit }: { readonly afterSeq: number; readonly limit: number },
): Promise<ExecutionEvent[]> {
  const rows = await db.all(
    sql<ExecutionEvent>`${limitToPageBytes(
      sql.part`select seq, kind, actor, data, at from execution_events
         where ${orgFilter()} and execution_id = ${executionId} and seq > ${afterSeq} order by seq limit ${limit}`,
      sql.part`octet_length(q.data::text)`,
      sql.part`q.seq`,
    )}`,
  );
  return rows.map(({ seq, kind, actor, data, at }) => ({ seq, kind, actor, data, at }));
}

/**
 * Lists the newest events of an execution that happened while a run held it, oldest first. A run may begin
 * before or after it acquires the work.
 */
export async function listRunEvents(
  db: Db,
  executionId: string,
  { runId, startedAt, endedAt }: Pick<ListedRun, 'runId' | 'startedAt' | 'endedAt'>,
): Promise<ExecutionEvent[]> {
  const isOfExecution = sql.part`${orgFilter()} and execution_id = ${executionId}`;
  const rows = await db.all(
    sql<ExecutionEvent>`${limitToPageBytes(
      sql.part`select seq, kind, actor, data, at from execution_events
         where ${isOfExecution} and at >= least(${startedAt}::timestamptz, (select min(at) from execution_events
             where ${isOfExecution} and kind = 'acquired' and data ->> 'runId' = ${runId}))
           and at <= coalesce(${endedAt}::timestamptz, 'infinity')
         order by seq desc limit ${sql.literal(maxRunSteps)}`,
      sql.part`octet_length(q.data::text)`,
      sql.part`q.seq desc`,
    )}`,
  );
  return rows.map(({ seq, kind, actor, data, at }) => ({ seq, kind, actor, data, at })).toReversed();
}
