/**
 * The operators' way in: one transaction over all organizations, on a connection whose login owns the tables and may
 * so take the operators' role. There is no token to let in, so each query names its organization by itself. Speed is
 * not asked for.
 */
import { sendBurst, type Statement } from './burst.ts';
import { DatabaseAway, type Db, mayHaveCommitted, OutcomeUnknown } from './organization.ts';
import { type Pool } from './pool.ts';
import { compiled, type Query } from './query.ts';

const statementOf = (sql: string): Statement => ({ sql, parameters: [] });

/** Runs `work` in a transaction of its own; throws what it throws, with nothing kept. */
export async function asOperator<Result>(pool: Pool, work: (db: Db) => Promise<Result>): Promise<Result> {
  const client = await pool.connect().catch((error: unknown) => {
    throw new DatabaseAway(error);
  });
  const postponed: Statement[] = [];
  const all = async <Row>(source: Query<Row>): Promise<Row[]> => {
    const [result] = await sendBurst(client, [compiled(source)]);
    return (result?.rows ?? []) as Row[];
  };
  const find = async <Row>(source: Query<Row>): Promise<Row | undefined> => (await all(source))[0];
  let reusable = false;
  try {
    await sendBurst(client, [statementOf('begin'), statementOf('set local role muster_operator')]);
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
    await commit();
    reusable = true;
    return result;
  } catch (error) {
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
    try {
      const results = await sendBurst(client, statements);
      if (results.at(-1)?.command !== 'COMMIT') throw new Error('the transaction was rolled back');
    } catch (error) {
      throw mayHaveCommitted(error, statements.length - 1) ? new OutcomeUnknown(error) : error;
    }
  }
}
