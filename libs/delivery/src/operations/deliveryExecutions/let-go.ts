/** The holder's own end of its lease, whatever comes after it. */
import { type Db } from '@muster/database';
import { type Execution } from '@muster/registry';
import { type Caller } from '@muster/runtime';
import {
  changedExecution,
  type Deed,
  type ExecutionChanges,
  freeLocksOf,
  setExecution,
  toExecution,
} from '../../data/executions.ts';
import { endLease } from '../../data/leases.ts';
import { type Grip } from './as-holder.ts';

/** Writes the execution while the grant still holds, then ends the grant; the token may repeat this same `call` from then on. */
export function letGo(
  { db, caller }: { readonly db: Db; readonly caller: Caller },
  grip: Grip,
  call: string,
  end: { readonly changes: ExecutionChanges; readonly deed: Deed; readonly freesLocks: boolean },
): Execution {
  const deeds = [end.deed];
  const changes = { ...end.changes, told_seq: grip.execution.last_event_seq + deeds.length };
  const changed = changedExecution(grip.execution, changes, grip.now, deeds);
  const columns = Object.keys(changes) as (keyof ExecutionChanges)[];
  db.later(setExecution(caller.orgId, changed, columns, caller.actor, deeds, grip.claim));
  const { unit_type: unitType, unit_id: unitId } = grip.lease;
  db.later(endLease(caller.orgId, unitType, unitId, grip.claim, call));
  if (end.freesLocks) db.later(freeLocksOf(caller.orgId, changed.id));
  return toExecution(changed, undefined, grip.now);
}
