/** The end of an expired lease that is in the way of another unit's holder. */
import { type Db } from '@muster/database';
import { type Caller } from '@muster/runtime';
import { changedExecution, type ExecutionRow, freeLocksOf, setExecution } from './executions.ts';
import { freeLease, type LeaseRow } from './leases.ts';

/** Its holder is fenced from here on; what it worked on is there for others. */
export function supersede(
  db: Db,
  caller: Caller,
  lease: LeaseRow,
  execution: ExecutionRow | undefined,
  now: string,
): void {
  if (execution !== undefined) {
    const deeds = [{ kind: 'superseded', data: {} }];
    const changed = changedExecution(execution, { state: 'available', waiting_for: null }, now, deeds);
    db.later(setExecution(caller.orgId, changed, ['state', 'waiting_for'], caller.actor, deeds));
    db.later(freeLocksOf(caller.orgId, execution.id));
  }
  db.later(freeLease(caller.orgId, lease.unit_type, lease.unit_id, lease.epoch));
}
