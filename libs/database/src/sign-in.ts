/**
 * The way in of whoever signs people in: one transaction over the schema `sign_in`, which no organization's calls reach. Its
 * role reads nothing of an organization; what it may know of one, functions of the door answer (functions/sign-in.sql).
 */
import { type Db } from './organization.ts';
import { type Pool } from './pool.ts';
import { inTransaction } from './transaction.ts';

/** Runs `work` in a transaction of its own, on a pool of the role muster_sign_in; throws what it throws, with nothing kept. */
export const inSignIn = <Result>(pool: Pool, work: (db: Db) => Promise<Result>): Promise<Result> =>
  inTransaction(pool, { prologue: [], orgId: null }, work);
