/**
 * The operators' way in: one transaction over all organizations, on a connection whose login owns the tables and may
 * so take the operators' role. There is no token to let in, so each query names its organization by itself. Speed is
 * not asked for.
 */
import { type Db } from './organization.ts';
import { type Pool } from './pool.ts';
import { inTransaction } from './transaction.ts';

const asRole = { sql: 'set local role muster_operator', parameters: [] };

/** Runs `work` in a transaction of its own; throws what it throws, with nothing kept. */
export const asOperator = <Result>(pool: Pool, work: (db: Db) => Promise<Result>): Promise<Result> =>
  inTransaction(pool, [asRole], work);
