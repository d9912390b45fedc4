/**
 * Opens transactions of operators, over all organizations. The connection's login owns the tables and may
 * therefore assume the operators' role. No token is checked, so the work itself names the organization that
 * it concerns. Speed is not a goal here.
 */
import { type Db, inTransaction, type Pool, type DbForOrg } from '@muster/driver';

const setOperatorRole = { sql: 'set local role muster_operator', parameters: [] };

/** Runs `work` in a transaction of its own. Rethrows its error after a rollback. */
export const inOperatorTransaction = <Result>(
  pool: Pool,
  work: (db: Db, within: DbForOrg) => Promise<Result>,
): Promise<Result> => inTransaction(pool, { prologue: [setOperatorRole], orgId: null }, work);
