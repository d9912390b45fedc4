/** The stream of an execution. */
import { type Db, sqlQuery } from '@muster/database';
import { type ExecutionEvent } from '@muster/registry';

/** What came after a place, in order. The numbers have no gaps, so nothing can come between what was read before. */
export const listEvents = (
  db: Db,
  orgId: string,
  executionId: string,
  { afterSeq, limit }: { readonly afterSeq: number; readonly limit: number },
): Promise<ExecutionEvent[]> =>
  db.all(
    sqlQuery(
      `select seq, kind, actor, data, at from execution_events
       where org_id = $1 and execution_id = $2 and seq > $3 order by seq limit $4`,
      [orgId, executionId, afterSeq, limit],
    ),
  );
