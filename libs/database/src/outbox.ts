/** Work that follows from a write: its row is written with it, and marked done by the transaction that does it. */
import { type OutboxJobName, type PayloadOf } from '@muster/jobs';
import { newId } from './id.ts';
import { sql, type Query } from './sql.ts';

const columns = ['id', 'topic', 'payload'] as const;

/**
 * The row that asks for a job, with what its contract takes; no secret goes in it. Leave it with `db.later`: it goes out
 * with COMMIT.
 */
export const outboxRow = <Name extends OutboxJobName>(
  topic: Name,
  payload: PayloadOf<Name>,
): Query<unknown> => sql.insert('outbox', columns, { id: newId(), topic, payload });
