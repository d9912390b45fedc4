/**
 * Opens transactions of operators, over all organizations. The connection's login owns the tables and may
 * therefore assume the operators' role. No token is checked, so the work itself names the organization that
 * it concerns. Speed is not a goal here.
 */
import { type Db, inTransaction, type Pool, type Within } from '@muster/driver';

const asRole = { sql: 'set local role muster_operator', parameters: [] };

/** Runs `work` in a transaction of its own. Rethrows its error after a rollback. */
export const asOperator = <Result>(
  pool: Pool,
  work: (db: Db, within: Within) => Promise<Result>,
): Promise<Result> => inTransaction(pool, { prologue: [asRole], orgId: null }, work);
