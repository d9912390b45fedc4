/** One plain transaction for those who need no token to be let in: statements one by one, COMMIT with what was left. */
import { notFound } from '@muster/registry';
import { type ClientBase } from 'pg';
import { BurstError, sendBurst, type Statement, type StatementResult } from './burst.ts';
import { checkOut, type Pool } from './pool.ts';
import { bind, type Query } from './sql.ts';
import { inTransactionSpan, traceStatements } from './trace.ts';

/** What a handler asks the database with. Every query names the organization, and row security sees to it. */
export interface Db {
  all<Row>(source: Query<Row>): Promise<Row[]>;
  /** The first row, or undefined. */
  find<Row>(source: Query<Row>): Promise<Row | undefined>;
  /** The same; 404 where there is none. */
  get<Row>(source: Query<Row>): Promise<Row>;
  /** The only row; a fault where there is none. */
  one<Row>(source: Query<Row>): Promise<Row>;
  /** A write whose outcome the work does not wait for: it goes out with COMMIT, in the order given. */
  later(source: Query<unknown>): void;
  /** Sends what was left for later in portions, and waits until the database has done it. For writes of any size. */
  writeNow(): Promise<void>;
}

/** The transaction's COMMIT was sent and no answer came: it may have happened. */
export class OutcomeUnknown extends Error {
  constructor(cause: unknown) {
    super('the connection was lost while committing', { cause });
    this.name = 'OutcomeUnknown';
  }
}

/** The server ended the session: it was told to, crashed, or lost the connection. */
const sessionEnded = /^(57P|08)/;

/**
 * Whether COMMIT may have happened though not all answers came: the connection is gone without a word, the server ended
 * the session at COMMIT or between doing it and saying so, or what follows COMMIT failed.
 */
export const mayHaveCommitted = (error: unknown, commitAt: number): boolean =>
  error instanceof BurstError &&
  (error.sqlState === undefined ||
    error.at > commitAt ||
    (error.at === commitAt && sessionEnded.test(error.sqlState)));

const plain = (sql: string): Statement => ({ sql, parameters: [] });

/** A transaction as the work in it asks for statements. */
export interface PlainDb extends Db {
  /** Sends what was left for later with the next statements, before them, so that they see it. */
  flush(): void;
  /** Forgets what was left for later and is not sent yet. */
  discard(): void;
}

/** The same transaction, for statements that name this organization. */
export type Within = (orgId: string) => PlainDb;

interface Opening {
  /** The statements that say who it is. */
  readonly prologue: readonly Statement[];
  /** The organization that the statements name; null where each says it by itself. */
  readonly orgId: string | null;
}

/**
 * Runs `work` after the statements that open it; throws what it throws, with nothing kept. Work that goes on
 * after its transaction ended (its time was up) gets an error for each statement, not another caller's transaction.
 */
export const inTransaction = <Result>(
  pool: Pool,
  { prologue, orgId }: Opening,
  work: (db: PlainDb, within: Within) => Promise<Result>,
): Promise<Result> =>
  inTransactionSpan(() => transact(pool, { prologue: [...prologue, ...traceStatements()], orgId }, work));

/**
 * False if the server did not answer: the connection is lost or silent. It is closed then, and Postgres rolls back; a
 * rollback would wait for another timeout.
 */
const isAnswered = (error: unknown): boolean =>
  !(error instanceof OutcomeUnknown || (error instanceof BurstError && error.sqlState === undefined));

/** Answers false if the connection cannot be used again. */
const rollback = (client: ClientBase): Promise<boolean> =>
  sendBurst(client, [plain('rollback')]).then(
    () => true,
    () => false,
  );

async function transact<Result>(
  pool: Pool,
  { prologue, orgId }: Opening,
  work: (db: PlainDb, within: Within) => Promise<Result>,
): Promise<Result> {
  const client = await checkOut(pool);
  const postponed: Statement[] = [];
  // Rides with the first statement; and with the next where that could not be sent: none runs without it.
  let opening: readonly Statement[] = [plain('begin'), ...prologue];
  const send = async (statements: readonly Statement[]): Promise<StatementResult[]> => {
    const results = await sendBurst(client, [...opening, ...statements]);
    opening = [];
    return results;
  };
  let over = false;
  // Asked for at once they go out one after the other: a client takes one burst at a time.
  let sent: Promise<unknown> = Promise.resolve();
  const sendNext = (statement: Statement): Promise<StatementResult[]> => {
    const sending = sent.then(() => send([statement]));
    sent = sending.catch(() => undefined);
    return sending;
  };
  const flush = (): void => {
    // It fails with its transaction, and who waits for another statement of that hears it.
    for (const statement of postponed.splice(0)) sendNext(statement).catch(() => undefined);
  };
  const dbOf = (named: string | null): PlainDb => {
    const all = async <Row>(source: Query<Row>): Promise<Row[]> => {
      if (over) throw new Error('the transaction is over');
      return ((await sendNext(bind(source, named))).at(-1)?.rows ?? []) as Row[];
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
        if (row === undefined) throw new Error('a row that must be there is not');
        return row;
      },
      writeNow: async () => {
        await Promise.all(postponed.splice(0).map(sendNext));
      },
      later: (source) => void postponed.push(bind(source, named)),
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
    reusable = isAnswered(error) && (await rollback(client));
    throw error;
  } finally {
    client.release(!reusable);
  }

  async function commit(): Promise<void> {
    const statements = [...postponed, plain('commit')];
    const before = opening.length;
    try {
      const results = await send(statements);
      if (results.at(-1)?.command !== 'COMMIT') throw new Error('the transaction was rolled back');
    } catch (error) {
      throw mayHaveCommitted(error, before + statements.length - 1) ? new OutcomeUnknown(error) : error;
    }
  }
}
