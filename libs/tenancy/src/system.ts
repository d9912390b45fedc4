/**
 * Opens the worker's two kinds of transactions. Across all organizations the worker may dispatch and purge,
 * and reads none of their data. A job changes records in the services' own role inside one organization,
 * under the same row-level security as a call. The login must be able to assume both roles.
 */
import {
  bindStatement,
  type Db,
  inTransaction,
  type Part,
  type PlainDb,
  type Pool,
  sql,
} from '@muster/driver';
import { databaseFor, hasOtherNodes } from '@muster/placement';

const setWorkerRole = { sql: 'set local role muster_worker', parameters: [] };
const setServiceRole = { sql: 'set local role muster_app', parameters: [] };

/**
 * Returns SQL that is true unless a row's organization is currently moving to or from this server. Statements
 * over all organizations skip the moving ones. The list of moving organizations is read once per statement,
 * so that rows keep the order of an index.
 */
export const notMovingCondition = (orgId: Part): Part =>
  sql.part`${orgId} <> all (array(select c.org_id from app.closed_orgs c))`;

/**
 * Runs `work` over all organizations of this server, for the outbox and the purges. Rethrows its error after
 * a rollback.
 */
export const acrossOrganizations = <Result>(pool: Pool, work: (db: Db) => Promise<Result>): Promise<Result> =>
  inTransaction(pool, { prologue: [setWorkerRole], orgId: null }, work);

/**
 * Runs `work` in a transaction of one organization, for one of its jobs. Rethrows its error after a rollback.
 */
export const inOrganizationAsSystem = <Result>(
  pool: Pool,
  orgId: string,
  work: (db: PlainDb) => Promise<Result>,
): Promise<Result> => {
  const isAlone = !hasOtherNodes(pool);
  return databaseFor(pool, orgId).run((at) => {
    const enter =
      isAlone || at.isOrganizationDeleted
        ? sql`select set_config('muster.org_id', ${orgId}, true)`
        : sql`select app.enter_as_system(${orgId}::uuid)`;
    return inTransaction(at.pool, { prologue: [setServiceRole, bindStatement(enter, null)], orgId }, work);
  });
};
