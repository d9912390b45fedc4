/** Work that follows from a write: its row is written with it, and marked done by the transaction that does it. */
import { newId, type Query, sql } from '@muster/driver';
import { type OutboxJobName, type PayloadOf } from '@muster/jobs';

const columns = ['id', 'topic', 'payload'] as const;

/**
 * The row that asks for a job, with what its contract takes; no secret goes in it. Leave it with `db.later`: it goes out
 * with COMMIT.
 * @param after when the job is due, by the clock of Postgres; at once where it is left out
 */
export const outboxRow = <Name extends OutboxJobName>(
  topic: Name,
  payload: PayloadOf<Name>,
  after?: string,
): Query<unknown> => {
  const row = { id: newId(), topic, payload };
  return after === undefined
    ? sql.insert('outbox', columns, row)
    : sql.insert('outbox', [...columns, 'dispatch_after'] as const, { ...row, dispatch_after: after });
};
