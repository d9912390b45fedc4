/**
 * Opens the transactions of the sign-in service on the schema `sign_in`, which no call of an organization
 * reaches. The service's role cannot read data of organizations. It gets the few facts that it needs from
 * security-definer functions (functions/sign-in.sql).
 */
import { queryOutsideOrg, type Db, inTransaction, type Pool, type Query, sql } from '@muster/driver';
import { sendCopiesToOtherNodes } from './copies.ts';
import { findOnNodes } from './databases.ts';
import { type QueryPrimaryServer, nodesOf } from './nodes.ts';

/** A transaction on the primary server, with access to the servers of organizations. */
export interface SignInDb extends Db {
  /**
   * Collects the rows of every server; those of the primary server come from this transaction. `orgOf` names
   * the organization of a row, so that leftovers of organizations that moved away are skipped. Servers that
   * do not answer are skipped, too, unless `isWhole` is set.
   */
  everywhere<Row>(
    source: Query<Row>,
    orgOf: ((row: Row) => string) | null,
    isWhole?: boolean,
  ): Promise<Row[]>;
  /**
   * Runs work at the organization's server: in this transaction if that is the primary one, else in a
   * transaction of its own.
   */
  at<Result>(orgId: string, work: (db: Db) => Promise<Result>): Promise<Result>;
  /** Finds the organization of a connection, or of a token by its hash; undefined if there is none. */
  organizationOf(named: {
    readonly connection?: string;
    readonly tokenHash?: Buffer;
  }): Promise<string | undefined>;
  /** True if there are servers besides the primary one. */
  readonly hasNodes: boolean;
}

/** The maximum time that a person waits until every server has received their change, in milliseconds. */
const maxCopyWaitMillis = 1_000;

/**
 * Runs `work` in a transaction of its own, on a pool of the role muster_sign_in. Rethrows its error after a
 * rollback.
 */
export async function inSignInTransaction<Result>(
  pool: Pool,
  work: (db: SignInDb) => Promise<Result>,
): Promise<Result> {
  const nodes = nodesOf(pool);
  if (nodes === undefined)
    return inTransaction(pool, { prologue: [], orgId: null }, (db) => work(createSignInDb(pool, db)));
  const { result, hasUnsent } = await inTransaction(pool, { prologue: [], orgId: null }, async (db) => {
    const done = await work(createSignInDb(pool, db));
    db.flush();
    const noted = await db.one(
      sql<{ is_so: boolean }>`select current_setting('muster.has_unsent', true) = 'yes' as is_so`,
    );
    return { result: done, hasUnsent: noted.is_so };
  });
  if (hasUnsent) await sendCopiesToOtherNodes(nodes, maxCopyWaitMillis);
  return result;
}

function createSignInDb(pool: Pool, db: Db): SignInDb {
  const nodes = nodesOf(pool);
  const askHome: QueryPrimaryServer = (query) => db.all(query);
  const others = nodes?.all.filter((node) => node !== nodes.home) ?? [];
  return {
    ...db,
    hasNodes: nodes !== undefined,
    everywhere: async (source, orgOf, isWhole = false) => {
      const atHome = await db.all(source);
      if (nodes === undefined) return atHome;
      const settled = await Promise.allSettled(
        others.map((node) => nodes.runOnNode(node, () => queryOutsideOrg(node.pool, source))),
      );
      const failed = settled.find((one) => one.status === 'rejected');
      if (isWhole && failed !== undefined) throw failed.reason;
      const answers = [atHome, ...settled.map((one) => (one.status === 'fulfilled' ? one.value : []))];
      if (orgOf === null) return answers.flat();
      const places = await nodes.findNodes(answers.flat().map(orgOf), 0, askHome);
      return answers.flatMap((rows, nth) => rows.filter((row) => places.get(orgOf(row)) === nodes.all[nth]));
    },
    at: async (orgId, there) => {
      if (nodes === undefined) return there(db);
      const node = (await nodes.findNodes([orgId], 0, askHome)).get(orgId);
      if (node === nodes.home) return there(db);
      return nodes.runForOrganization(
        orgId,
        (place) =>
          place.pool === pool ? there(db) : inTransaction(place.pool, { prologue: [], orgId: null }, there),
        { queryHome: askHome },
      );
    },
    organizationOf: ({ connection = null, tokenHash = null }) =>
      findOnNodes(
        pool,
        async (at) => {
          const query = sql<{
            org_id: string | null;
          }>`select app.organization_of(${connection}::uuid, ${tokenHash}::bytea) as org_id`;
          const [row] = await (at === pool ? db.all(query) : queryOutsideOrg(at, query));
          return row?.org_id ?? undefined;
        },
        (orgId) => orgId,
        askHome,
      ),
  };
}
