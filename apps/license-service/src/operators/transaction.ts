import {
  type Db,
  inTransaction as transact,
  OutcomeUnknown as CommitUnknown,
  type Pool,
  type Statement,
} from '@muster/driver';
import { outageOf } from './outage.ts';

export { type Db };

/** An operator's request that cannot be fulfilled; the message says why and contains no secret. */
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
      `${why}; the outcome is unknown: check whether the change was made before you repeat it`,
    );
    this.name = 'OutcomeUnknown';
  }
}

export const nothingChanged = (why: string): Refused =>
  new Refused('no_database', `${why}; nothing was changed`);

type Work<Result> = (db: Db) => Promise<Result>;

/** Runs `work` in a transaction of the operators, who own the tables. If `work` throws, rolls back and throws again. */
export const inTransaction = <Result>(pool: Pool, work: Work<Result>): Promise<Result> =>
  run(pool, [], work, (why) => new OutcomeUnknown(why));

const readOnly: Statement = { sql: 'set transaction read only', parameters: [] };

/** Runs `work` in a read-only transaction. After any failure it is certain that nothing was changed. */
export const reading = <Result>(pool: Pool, work: Work<Result>): Promise<Result> =>
  run(pool, [readOnly], work, nothingChanged);

async function run<Result>(
  pool: Pool,
  prologue: readonly Statement[],
  work: Work<Result>,
  unconfirmed: (why: string) => Refused,
): Promise<Result> {
  try {
    return await transact(pool, { prologue, orgId: null }, work);
  } catch (error) {
    const why = outageOf(error);
    if (why === undefined) throw error;
    throw error instanceof CommitUnknown ? unconfirmed(why) : nothingChanged(why);
  }
}
