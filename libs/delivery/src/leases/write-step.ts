/** A step as it is written: the execution and its stream, its lease, and the locks that go with the work. */
import { type Db, of, type Part, sql } from '@muster/driver';
import { type Actor } from '@muster/registry';
import { type Caller } from '@muster/runtime';
import { freeLocksOf, freeLocksOfRun, setExecution } from '../data/executions.ts';
import { freeLease, heldLease, type LeaseRow, type OwnEnd } from '../data/leases.ts';
import { appendEvents } from './events.ts';
import { assignmentsOf, canSql } from './states-sql.ts';
import { type TransitionName, transitions } from './states.ts';
import { type Step } from './step.ts';

/** Writes a step of a locked execution, whose lease is locked as well; a holder's only while its grant still holds. */
export function writeStep(
  { db, caller }: { readonly db: Db; readonly caller: Pick<Caller, 'actor'> },
  taken: Step,
  lease: LeaseRow | undefined,
  own?: OwnEnd,
): void {
  const { actor } = caller;
  const { row, transition } = taken;
  const { endsLease, locks } = transitions[transition];
  db.later(setExecution(taken, actor, own?.claim));
  const held = heldLease(lease);
  if (endsLease && held !== null) db.later(freeLease(held.row, own));
  if (locks === 'free' || locks === 'freeWithRun') db.later(freeLocksOf(row.id));
  const runId = held?.holder.runId ?? null;
  if (locks === 'freeWithRun' && held !== null && runId !== null) {
    db.later(freeLocksOfRun(row.project_id, { ...held.holder, runId }));
  }
}

/**
 * The same step of many executions at once, without their leases, which are locked and freed before: CTEs by which those
 * of `chosen` that can take it have, `stepped` among them. `data` is that of their events, `sets` what is assigned besides.
 */
export function stepAll(
  transition: TransitionName,
  {
    chosen,
    actor,
    data,
    sets,
  }: { readonly chosen: Part; readonly actor: Actor; readonly data: Part; readonly sets?: Part },
): Part {
  const { event, locks } = transitions[transition];
  const stepped = sql.part`stepped as (
       update executions e set ${sql.join([assignmentsOf(transition), ...(sets === undefined ? [] : [sets])])},
         last_event_seq = e.last_event_seq + 1
       where ${of('e')} and ${chosen} and ${canSql(transition)}
       returning e.id, e.project_id, e.target_type, e.target_id, e.last_event_seq)`;
  const news = sql.part`(select s.id, s.last_event_seq as seq, ${event}::text as kind, ${data} as data,
      clock_timestamp() as at from stepped s)`;
  const said = sql.part`said as (${appendEvents(news, actor)})`;
  const unlocked = sql.part`unlocked as (delete from locks k using stepped s where ${of('k')} and k.execution_id = s.id)`;
  return sql.join([stepped, said, ...(locks === 'stay' ? [] : [unlocked])]);
}
