import {
  type Db,
  inTransaction as transact,
  CommitOutcomeUnknown as CommitUnknown,
  type Pool,
  type Statement,
} from '@muster/driver';
import { outageOf } from './outage.ts';

export { type Db };

/** An operator's request that cannot be fulfilled; the message says why and contains no secret. */
export class RefusedError extends Error {
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.name = 'Refused';
    this.reason = reason;
  }
}

/** The command cannot say whether the change was made: Postgres did not confirm it. */
export class OutcomeUnknownError extends RefusedError {
  constructor(outage: string) {
    super(
      'outcome_unknown',
      `${outage}; the outcome is unknown: check whether the change was made before you repeat it`,
    );
    this.name = 'OutcomeUnknown';
  }
}

export const nothingChangedError = (outage: string): RefusedError =>
  new RefusedError('no_database', `${outage}; nothing was changed`);

type TransactionWork<Result> = (db: Db) => Promise<Result>;

/** Runs `work` in a transaction of the operators, who own the tables. If `work` throws, rolls back and throws again. */
export const inTransaction = <Result>(pool: Pool, work: TransactionWork<Result>): Promise<Result> =>
  runTransaction(pool, [], work, (why) => new OutcomeUnknownError(why));

const setReadOnlyStatement: Statement = { sql: 'set transaction read only', parameters: [] };

/** Runs `work` in a read-only transaction. After any failure it is certain that nothing was changed. */
export const inReadOnlyTransaction = <Result>(pool: Pool, work: TransactionWork<Result>): Promise<Result> =>
  runTransaction(pool, [setReadOnlyStatement], work, nothingChangedError);

async function runTransaction<Result>(
  pool: Pool,
  prologue: readonly Statement[],
  work: TransactionWork<Result>,
  toUnconfirmedError: (why: string) => RefusedError,
): Promise<Result> {
  try {
    return await transact(pool, { prologue, orgId: null }, work);
  } catch (error) {
    const why = outageOf(error);
    if (why === undefined) throw error;
    throw error instanceof CommitUnknown ? toUnconfirmedError(why) : nothingChangedError(why);
  }
}
