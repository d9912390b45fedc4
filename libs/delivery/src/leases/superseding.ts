/** The end of an expired lease that is in the way of another unit's holder. */
import { type Db } from '@muster/database';
import { type Caller } from '@muster/runtime';
import { step } from './step.ts';
import { writeStep } from './write-step.ts';
import { type ExecutionRow } from '../data/executions.ts';
import { freeLease, type LeaseRow } from '../data/leases.ts';

/** Its holder is fenced from here on; what it worked on is there for others. */
export function supersede(
  db: Db,
  caller: Caller,
  lease: LeaseRow,
  execution: ExecutionRow | undefined,
  now: string,
): void {
  if (execution === undefined) db.later(freeLease(lease));
  else writeStep({ db, caller }, step(execution, 'supersede', { now }), lease);
}
