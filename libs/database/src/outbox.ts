/** Work that follows from a write: its row is written with it, and marked done by the transaction that does it. */
import { type OutboxJobName, type PayloadOf } from '@muster/jobs';
import { CompiledQuery } from 'kysely';
import { newId } from './id.ts';

/**
 * The row that asks for a job, with what its contract takes; no secret goes in it. Leave it with `db.later`: it goes out
 * with COMMIT.
 */
export const outboxRow = <Name extends OutboxJobName>(
  orgId: string,
  topic: Name,
  payload: PayloadOf<Name>,
): CompiledQuery =>
  CompiledQuery.raw('insert into outbox (org_id, id, topic, payload) values ($1, $2, $3, $4)', [
    orgId,
    newId(),
    topic,
    payload,
  ]);
