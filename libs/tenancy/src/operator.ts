/**
 * The operators' way in: one transaction over all organizations, on a connection whose login owns the tables and may
 * so take the operators' role. There is no token to let in, so the work says which organization it is about. Speed is not
 * asked for.
 */
import { type Db, inTransaction, type Pool, type Within } from '@muster/driver';

const asRole = { sql: 'set local role muster_operator', parameters: [] };

/** Runs `work` in a transaction of its own; throws what it throws, with nothing kept. */
export const asOperator = <Result>(
  pool: Pool,
  work: (db: Db, within: Within) => Promise<Result>,
): Promise<Result> => inTransaction(pool, { prologue: [asRole], orgId: null }, work);
