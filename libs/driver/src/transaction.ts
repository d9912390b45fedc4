/**
 * A plain transaction without an authorization check. It sends statements one by one and the deferred writes with
 * COMMIT.
 */
import { notFound } from '@muster/contract';
import { type ClientBase } from 'pg';
import { BurstError, sendBurst, type StatementResult } from './burst.ts';
import { checkOutConnection, type Pool } from './pool.ts';
import { bindStatement, type Query, type Statement } from './sql.ts';
import { inTransactionSpan, traceStatements } from './trace.ts';

/** The query interface of a handler. Every query names the organization, and row-level security enforces it. */
export interface Db {
  all<Row>(source: Query<Row>): Promise<Row[]>;
  /** Returns the first row, or undefined. */
  find<Row>(source: Query<Row>): Promise<Row | undefined>;
  /** Returns the first row. Throws the 404 refusal if there is none. */
  get<Row>(source: Query<Row>): Promise<Row>;
  /** Returns the only row. Throws a fault if there is none. */
  one<Row>(source: Query<Row>): Promise<Row>;
  /** Defers a write to COMMIT. Use it for writes whose result the handler does not need. Order is kept. */
  deferToCommit(source: Query<unknown>): void;
  /** Sends the deferred writes now, one by one, and waits for them. Use it for writes of any size. */
  writeNow(): Promise<void>;
}

/** The error when COMMIT was sent but not answered. The transaction may have been committed. */
export class CommitOutcomeUnknown extends Error {
  constructor(cause: unknown) {
    super('the connection was lost while committing', { cause });
    this.name = 'OutcomeUnknown';
  }
}

/** SQLSTATE classes of an ended session: an administrator ended it, the server crashed, or the connection was lost. */
const sessionEndedSqlStates = /^(57P|08)/;

/**
 * Returns true if COMMIT may have taken effect although an error came. There are three cases: the connection was lost
 * without an error message, the server ended the session at COMMIT, or a statement after COMMIT failed.
 */
export const mayHaveCommitted = (error: unknown, commitIndex: number): boolean =>
  error instanceof BurstError &&
  (error.sqlState === undefined ||
    error.at > commitIndex ||
    (error.at === commitIndex && sessionEndedSqlStates.test(error.sqlState)));

const statementWithoutParameters = (sql: string): Statement => ({ sql, parameters: [] });

/** The query interface of a transaction that runs no authorization check. */
export interface PlainDb extends Db {
  /** Sends the deferred writes ahead of later statements, which then see them. Does not wait for them. */
  flush(): void;
  /** Discards the deferred writes that are not sent yet. */
  discard(): void;
}

/** Returns a Db in the current transaction for statements that refer to the organization `orgId`. */
export type DbForOrg = (orgId: string) => PlainDb;

interface TransactionOptions {
  /** The statements that set the identity of the transaction. */
  readonly prologue: readonly Statement[];
  /** The default organization of the statements; null if each statement names its own. */
  readonly orgId: string | null;
}

/**
 * Runs `work` in a transaction that starts with the prologue. If `work` throws, rolls back and throws the error again.
 * Work that continues after the end of its transaction, such as after a timeout, gets an error for each statement.
 * Its statements never run in another caller's transaction.
 */
export const inTransaction = <Result>(
  pool: Pool,
  { prologue, orgId }: TransactionOptions,
  work: (db: PlainDb, within: DbForOrg) => Promise<Result>,
): Promise<Result> =>
  inTransactionSpan(() =>
    runTransaction(pool, { prologue: [...prologue, ...traceStatements()], orgId }, work),
  );

/**
 * Returns false if the server did not answer because the connection is lost or silent. The caller then closes it, and
 * Postgres rolls back. An explicit ROLLBACK would wait for another timeout.
 */
const wasAnsweredByServer = (error: unknown): boolean =>
  !(error instanceof CommitOutcomeUnknown || (error instanceof BurstError && error.sqlState === undefined));

/** Rolls back. Returns false if the connection cannot be reused. */
const rollBack = (client: ClientBase): Promise<boolean> =>
  sendBurst(client, [statementWithoutParameters('rollback')]).then(
    () => true,
    () => false,
  );

async function runTransaction<Result>(
  pool: Pool,
  { prologue, orgId }: TransactionOptions,
  work: (db: PlainDb, within: DbForOrg) => Promise<Result>,
): Promise<Result> {
  const client = await checkOutConnection(pool);
  const postponed: Statement[] = [];
  // Sends BEGIN and the prologue with the first statement. If sending it fails, sends them again with the
  // next statement.
  let opening: readonly Statement[] = [statementWithoutParameters('begin'), ...prologue];
  const send = async (statements: readonly Statement[]): Promise<StatementResult[]> => {
    const results = await sendBurst(client, [...opening, ...statements]);
    opening = [];
    return results;
  };
  let over = false;
  // Concurrent calls are sent one after the other, because a client runs one burst at a time.
  let sent: Promise<unknown> = Promise.resolve();
  const sendNext = (statement: Statement): Promise<StatementResult[]> => {
    const sending = sent.then(() => send([statement]));
    sent = sending.catch(() => undefined);
    return sending;
  };
  const flush = (): void => {
    // A failure aborts the transaction, so the next awaited statement or COMMIT reports it.
    for (const statement of postponed.splice(0)) sendNext(statement).catch(() => undefined);
  };
  const dbOf = (named: string | null): PlainDb => {
    const all = async <Row>(source: Query<Row>): Promise<Row[]> => {
      if (over) throw new Error('the transaction has already ended');
      return ((await sendNext(bindStatement(source, named))).at(-1)?.rows ?? []) as Row[];
    };
    const find = async <Row>(source: Query<Row>): Promise<Row | undefined> => (await all(source))[0];
    return {
      all,
      find,
      flush,
      discard: () => void postponed.splice(0),
      get: async (source) => {
        const row = await find(source);
        if (row === undefined) throw notFound();
        return row;
      },
      one: async (source) => {
        const row = await find(source);
        if (row === undefined) throw new Error('a required row is missing');
        return row;
      },
      writeNow: async () => {
        await Promise.all(postponed.splice(0).map(sendNext));
      },
      deferToCommit: (source) => void postponed.push(bindStatement(source, named)),
    };
  };
  let reusable = false;
  try {
    const result = await work(dbOf(orgId), dbOf);
    over = true;
    await commit();
    reusable = true;
    return result;
  } catch (error) {
    over = true;
    await sent;
    reusable = wasAnsweredByServer(error) && (await rollBack(client));
    throw error;
  } finally {
    client.release(!reusable);
  }

  async function commit(): Promise<void> {
    const statements = [...postponed, statementWithoutParameters('commit')];
    const before = opening.length;
    try {
      const results = await send(statements);
      if (results.at(-1)?.command !== 'COMMIT') throw new Error('the transaction was rolled back');
    } catch (error) {
      throw mayHaveCommitted(error, before + statements.length - 1) ? new CommitOutcomeUnknown(error) : error;
    }
  }
}
