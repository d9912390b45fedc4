/** One plain transaction for those who need no token to be let in: statements one by one, COMMIT with what was left. */
import { sendBurst, type Statement, type StatementResult } from './burst.ts';
import { DatabaseAway, type Db, mayHaveCommitted, OutcomeUnknown } from './organization.ts';
import { type Pool } from './pool.ts';
import { compiled, type Query } from './query.ts';
import { inTransactionSpan, traceStatements } from './trace.ts';

const statementOf = (sql: string): Statement => ({ sql, parameters: [] });

/**
 * Runs `work` after the statements that say who it is; throws what it throws, with nothing kept. Work that goes on
 * after its transaction ended (its time was up) gets an error for each statement, not somebody else's transaction.
 */
export const inTransaction = <Result>(
  pool: Pool,
  prologue: readonly Statement[],
  work: (db: Db) => Promise<Result>,
): Promise<Result> => inTransactionSpan(() => transact(pool, [...prologue, ...traceStatements()], work));

async function transact<Result>(
  pool: Pool,
  prologue: readonly Statement[],
  work: (db: Db) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect().catch((error: unknown) => {
    throw new DatabaseAway(error);
  });
  const postponed: Statement[] = [];
  // Rides with the first statement; and with the next where that could not be sent: none runs without it.
  let opening: readonly Statement[] = [statementOf('begin'), ...prologue];
  const send = async (statements: readonly Statement[]): Promise<StatementResult[]> => {
    const results = await sendBurst(client, [...opening, ...statements]);
    opening = [];
    return results;
  };
  let over = false;
  // Asked for at once they go out one after the other: a client takes one burst at a time.
  let sent: Promise<unknown> = Promise.resolve();
  const all = async <Row>(source: Query<Row>): Promise<Row[]> => {
    if (over) throw new Error('the transaction is over');
    const sending = sent.then(() => send([compiled(source)]));
    sent = sending.catch(() => undefined);
    return ((await sending).at(-1)?.rows ?? []) as Row[];
  };
  const find = async <Row>(source: Query<Row>): Promise<Row | undefined> => (await all(source))[0];
  let reusable = false;
  try {
    const result = await work({
      all,
      find,
      one: async (source) => {
        const row = await find(source);
        if (row === undefined) throw new Error('a row that must be there is not');
        return row;
      },
      later: (source) => void postponed.push(compiled(source)),
    });
    over = true;
    await commit();
    reusable = true;
    return result;
  } catch (error) {
    over = true;
    await sent;
    reusable = await sendBurst(client, [statementOf('rollback')]).then(
      () => true,
      () => false,
    );
    throw error;
  } finally {
    client.release(!reusable);
  }

  async function commit(): Promise<void> {
    const statements = [...postponed, statementOf('commit')];
    const before = opening.length;
    try {
      const results = await send(statements);
      if (results.at(-1)?.command !== 'COMMIT') throw new Error('the transaction was rolled back');
    } catch (error) {
      throw mayHaveCommitted(error, before + statements.length - 1) ? new OutcomeUnknown(error) : error;
    }
  }
}
