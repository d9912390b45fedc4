/**
 * The worker's two ways in. Over all organizations it may dispatch and purge, and read nothing of what is in them;
 * whatever a job does to records, it does as the services' own role inside one organization, under the same row
 * security as a call. The login must be able to take both roles.
 */
import { bind, type Db, inTransaction, type Part, type PlainDb, type Pool, sql } from '@muster/driver';
import { databaseFor, hasNodes } from '@muster/placement';

const asWorkerRole = { sql: 'set local role muster_worker', parameters: [] };
const asServiceRole = { sql: 'set local role muster_app', parameters: [] };

/**
 * That a row's organization neither leaves this server nor comes to it just now: what is done for all of them leaves out those that
 * are moved. Asked once per statement, so that the order in which it finds rows stays that of an index.
 */
export const isSettled = (orgId: Part): Part =>
  sql.part`${orgId} <> all (array(select c.org_id from app.closed_orgs c))`;

/** Runs `work` over all organizations of this server, for the outbox and the purges. Throws what it throws, with nothing kept. */
export const acrossOrganizations = <Result>(pool: Pool, work: (db: Db) => Promise<Result>): Promise<Result> =>
  inTransaction(pool, { prologue: [asWorkerRole], orgId: null }, work);

/** Runs `work` in a transaction of one organization, for a job of it. Throws what it throws, with nothing kept. */
export const inOrganizationAsSystem = <Result>(
  pool: Pool,
  orgId: string,
  work: (db: PlainDb) => Promise<Result>,
): Promise<Result> => {
  const isAlone = !hasNodes(pool);
  return databaseFor(pool, orgId).run((at) => {
    const enter =
      isAlone || at.isGone
        ? sql`select set_config('muster.org_id', ${orgId}, true)`
        : sql`select app.enter_as_system(${orgId}::uuid)`;
    return inTransaction(at.pool, { prologue: [asServiceRole, bind(enter, null)], orgId }, work);
  });
};
