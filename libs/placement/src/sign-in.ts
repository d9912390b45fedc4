/**
 * The way in of the service that signs people in: one transaction over the schema `sign_in`, which no organization's calls reach. Its
 * role reads nothing of an organization; what it may know of one, functions of the door answer (functions/sign-in.sql).
 */
import { ask, type Db, inTransaction, type Pool, type Query, sql } from '@muster/driver';
import { settleCopies } from './copies.ts';
import { findOnNodes } from './databases.ts';
import { type AskHome, nodesOf } from './nodes.ts';

/** The transaction is at home; what is of organizations is asked where they are. */
export interface SignInDb extends Db {
  /**
   * The rows of every server: home's in this transaction. `orgOf` says of which organization a row is: what a server has of one that
   * left it is left out. So are servers that do not answer, unless the answer has to be whole.
   */
  everywhere<Row>(
    source: Query<Row>,
    orgOf: ((row: Row) => string) | null,
    isWhole?: boolean,
  ): Promise<Row[]>;
  /** At the organization's server: in this transaction where that is home, else in one of its own. */
  at<Result>(orgId: string, work: (db: Db) => Promise<Result>): Promise<Result>;
  /** Of a connection, or of a token by its hash; undefined where there is none. */
  organizationOf(named: {
    readonly connection?: string;
    readonly tokenHash?: Buffer;
  }): Promise<string | undefined>;
  /** Whether there is another server than home. */
  readonly hasNodes: boolean;
}

/** So long a person waits at most until every node has heard of what they did. */
const settlesMillis = 1_000;

/** Runs `work` in a transaction of its own, on a pool of the role muster_sign_in; throws what it throws, with nothing kept. */
export async function inSignIn<Result>(pool: Pool, work: (db: SignInDb) => Promise<Result>): Promise<Result> {
  const nodes = nodesOf(pool);
  if (nodes === undefined)
    return inTransaction(pool, { prologue: [], orgId: null }, (db) => work(signInDb(pool, db)));
  const { result, hasUnsent } = await inTransaction(pool, { prologue: [], orgId: null }, async (db) => {
    const done = await work(signInDb(pool, db));
    db.flush();
    const noted = await db.one(
      sql<{ is_so: boolean }>`select current_setting('muster.has_unsent', true) = 'yes' as is_so`,
    );
    return { result: done, hasUnsent: noted.is_so };
  });
  if (hasUnsent) await settleCopies(nodes, settlesMillis);
  return result;
}

function signInDb(pool: Pool, db: Db): SignInDb {
  const nodes = nodesOf(pool);
  const askHome: AskHome = (query) => db.all(query);
  const others = nodes?.all.filter((node) => node !== nodes.home) ?? [];
  return {
    ...db,
    hasNodes: nodes !== undefined,
    everywhere: async (source, orgOf, isWhole = false) => {
      const atHome = await db.all(source);
      if (nodes === undefined) return atHome;
      const settled = await Promise.allSettled(
        others.map((node) => nodes.visit(node, () => ask(node.pool, source))),
      );
      const failed = settled.find((one) => one.status === 'rejected');
      if (isWhole && failed !== undefined) throw failed.reason;
      const answers = [atHome, ...settled.map((one) => (one.status === 'fulfilled' ? one.value : []))];
      if (orgOf === null) return answers.flat();
      const places = await nodes.find(answers.flat().map(orgOf), 0, askHome);
      return answers.flatMap((rows, nth) => rows.filter((row) => places.get(orgOf(row)) === nodes.all[nth]));
    },
    at: async (orgId, there) => {
      if (nodes === undefined) return there(db);
      const node = (await nodes.find([orgId], 0, askHome)).get(orgId);
      if (node === nodes.home) return there(db);
      return nodes.at(
        orgId,
        (place) =>
          place.pool === pool ? there(db) : inTransaction(place.pool, { prologue: [], orgId: null }, there),
        { atHome: askHome },
      );
    },
    organizationOf: ({ connection = null, tokenHash = null }) =>
      findOnNodes(
        pool,
        async (at) => {
          const query = sql<{
            org_id: string | null;
          }>`select app.organization_of(${connection}::uuid, ${tokenHash}::bytea) as org_id`;
          const [row] = await (at === pool ? db.all(query) : ask(at, query));
          return row?.org_id ?? undefined;
        },
        (orgId) => orgId,
        askHome,
      ),
  };
}
