/**
 * Requests background work that follows from a write. The outbox row is written in the same transaction, and
 * the transaction that does the work marks it as done.
 */
import { newId, type Query, sql } from '@muster/driver';
import { type OutboxJobName, type PayloadOf } from '@muster/jobs';

const columns = ['id', 'topic', 'payload'] as const;

/**
 * Builds the outbox row that requests a job with its payload. A payload never contains a secret. Pass the row
 * to `db.later`, which sends it with COMMIT. @param dueAt the time when the job is due, by the clock of
 * Postgres; by default immediately
 */
export const outboxRow = <Name extends OutboxJobName>(
  topic: Name,
  payload: PayloadOf<Name>,
  dueAt?: string,
): Query<unknown> => {
  const row = { id: newId(), topic, payload };
  return dueAt === undefined
    ? sql.insert('outbox', columns, row)
    : sql.insert('outbox', [...columns, 'dispatch_after'] as const, { ...row, dispatch_after: dueAt });
};
