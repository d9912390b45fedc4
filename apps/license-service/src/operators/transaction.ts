import { type Pool } from '@muster/driver';
import { outageOf } from './outage.ts';

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

/** The command cannot say whether the change was made: Postgres did not confirm it. */
export class OutcomeUnknown extends Refused {
  constructor(why: string) {
    super(
      'outcome_unknown',
      `${why}; outcome unknown: look whether the change is there before you repeat it`,
    );
    this.name = 'OutcomeUnknown';
  }
}

export const nothingChanged = (why: string): Refused =>
  new Refused('no_database', `${why}; nothing was changed`);

/** Where `work` only reads: whatever happens, nothing was changed. Postgres refuses what is no reading. */
export const reading = <Result>(pool: Pool, work: (ask: Ask) => Promise<Result>): Promise<Result> =>
  transact(pool, 'begin read only', work, nothingChanged);

/** Runs `work` in a transaction of the operators', who own the tables. Throws what it throws, with nothing kept. */
export const inTransaction = <Result>(pool: Pool, work: (ask: Ask) => Promise<Result>): Promise<Result> =>
  transact(pool, 'begin', work, (why) => new OutcomeUnknown(why));

async function transact<Result>(
  pool: Pool,
  begin: string,
  work: (ask: Ask) => Promise<Result>,
  unconfirmed: (why: string) => Refused,
): Promise<Result> {
  const client = await pool.connect();
  let isOver = false;
  let isCommitting = false;
  let isSilent = false;
  try {
    await client.query(begin);
    const ask: Ask = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row>(text, [...values])).rows;
    const result = await work(ask);
    isCommitting = true;
    const { command } = await client.query('commit');
    // COMMIT of a failed transaction succeeds, and says so.
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back');
    isOver = true;
    return result;
  } catch (error) {
    const why = outageOf(error);
    if (why === undefined) throw error;
    isSilent = true;
    throw isCommitting ? unconfirmed(why) : nothingChanged(why);
  } finally {
    // Without its connection Postgres rolls back by itself; there is no server to tell.
    if (!isOver && !isSilent) await client.query('rollback').catch(() => undefined);
    client.release(!isOver);
  }
}
