/**
 * Writes the result of a transition: the execution with its stream, its lease, and the locks taken for the
 * work.
 */
import { type Db, orgFilter, type Part, sql } from '@muster/driver';
import { type Actor } from '@muster/contract';
import { type Caller } from '@muster/runtime';
import { freeLocksOfExecution, freeLocksOfRun, updateExecution } from '../data/executions.ts';
import { freeLease, toHeldLease, type LeaseRow, type LeaseEndByHolder } from '../data/leases.ts';
import { appendEventsSql } from './events.ts';
import { transitionAssignmentsSql, canTransitionSql } from './states-sql.ts';
import { type TransitionName, transitions } from './states.ts';
import { type ExecutionStep } from './step.ts';

/**
 * Writes the result of a transition of a locked execution with a locked lease. The result of a holder's own
 * transition is written only while the holder's grant is still valid.
 */
export function writeStep(
  { db, caller }: { readonly db: Db; readonly caller: Pick<Caller, 'actor'> },
  executionStep: ExecutionStep,
  lease: LeaseRow | undefined,
  endByHolder?: LeaseEndByHolder,
): void {
  const { actor } = caller;
  const { row, transition } = executionStep;
  const { endsLease, locks } = transitions[transition];
  db.deferToCommit(updateExecution(executionStep, actor, endByHolder?.claim));
  const held = toHeldLease(lease);
  if (endsLease && held !== null) db.deferToCommit(freeLease(held.leaseRow, endByHolder));
  if (locks === 'free' || locks === 'freeWithRun') db.deferToCommit(freeLocksOfExecution(row.id));
  const runId = held?.holder.runId ?? null;
  if (locks === 'freeWithRun' && held !== null && runId !== null)
    db.deferToCommit(freeLocksOfRun(row.project_id, { ...held.holder, runId }));
}

/**
 * Builds CTEs that apply one transition to many executions, whose leases the caller locked and freed before.
 * They affect the executions of `chosen` that can take the transition; the CTE `stepped` returns them. `data`
 * is the data of their events, and `sets` holds further assignments.
 */
export function applyTransitionToManySql(
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
       update executions e set ${sql.join([transitionAssignmentsSql(transition), ...(sets === undefined ? [] : [sets])])},
         last_event_seq = e.last_event_seq + 1
       where ${orgFilter('e')} and ${chosen} and ${canTransitionSql(transition)}
       returning e.id, e.project_id, e.target_type, e.target_id, e.last_event_seq)`;
  const news = sql.part`(select s.id, s.last_event_seq as seq, ${event}::text as kind, ${data} as data,
      clock_timestamp() as at from stepped s)`;
  const said = sql.part`said as (${appendEventsSql(news, actor)})`;
  const unlocked = sql.part`unlocked as (delete from locks k using stepped s where ${orgFilter('k')} and k.execution_id = s.id)`;
  return sql.join([stepped, said, ...(locks === 'stay' ? [] : [unlocked])]);
}
