import { type Pool } from '@muster/database';

/** Sends one statement and answers its rows. */
export type Ask = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** What an operator asked for cannot be done; the message says why, and has no secret in it. */
export class Refused extends Error {
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.name = 'Refused';
    this.reason = reason;
  }
}

/** Runs `work` in a transaction of the operators', who own the tables. Throws what it throws, with nothing kept. */
export async function inTransaction<Result>(
  pool: Pool,
  work: (ask: Ask) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let isOver = false;
  try {
    await client.query('begin');
    const ask: Ask = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row>(text, [...values])).rows;
    const result = await work(ask);
    const { command } = await client.query('commit');
    // COMMIT of a failed transaction succeeds, and says so.
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back');
    isOver = true;
    return result;
  } finally {
    if (!isOver) await client.query('rollback').catch(() => undefined);
    client.release(!isOver);
  }
}
