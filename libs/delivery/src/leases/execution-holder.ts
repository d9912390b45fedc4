/** The lease holder's calls on an execution of a story or a delivery group. */
import { type Execution, type Signal } from '@muster/registry';
import { setExecution, toExecution } from '../data/executions.ts';
import { later } from '../data/leases.ts';
import {
  type LockedExecution,
  type LockedRows,
  lockExecution,
  lockExecutionRows,
} from '../data/locked-executions.ts';
import { keepLocks } from '../data/locks.ts';
import { listSignals, signalsFor } from '../data/signals.ts';
import { type LeaseClaim } from '../rules/lease-tokens.ts';
import {
  checkEnder,
  checkHolder,
  type HolderContext,
  type LeaseHolder,
  renewAfter,
  type RepeatedEnd,
  type Writer,
} from './holder.ts';
import { can, type TransitionName } from './states.ts';
import { step, type StepFacts } from './step.ts';
import { writeStep } from './write-step.ts';

interface Asked {
  readonly executionId: string;
  readonly leaseToken: string;
}

type Held<Unit extends LockedRows> = LeaseHolder<Unit> & { readonly signals: Signal[] };

/**
 * The holder of an execution with the story or group it works on. Callers that emit events need that target.
 */
export type ExecutionHolder = Held<LockedExecution>;

const isOfGrant = ({ execution }: LockedRows, { epoch }: LeaseClaim): boolean =>
  execution.epoch === epoch && can('renew', execution.state);

/**
 * Checks that the caller holds the execution, and loads its target and pending signals. Throws `stale_lease`
 * otherwise.
 */
export const asHolder = async (
  context: HolderContext,
  { executionId, leaseToken }: Asked,
): Promise<ExecutionHolder> =>
  told(context, checkHolder(context, await lockExecution(context.db, executionId), leaseToken, isOfGrant));

/**
 * Checks the holder as `asHolder` does, without loading the target. Loading it would cost as much as the rest
 * of a renewal.
 */
export const asQuietHolder = async (
  context: HolderContext,
  { executionId, leaseToken }: Asked,
): Promise<Held<LockedRows>> =>
  told(
    context,
    checkHolder(context, await lockExecutionRows(context.db, executionId), leaseToken, isOfGrant),
  );

/**
 * Checks the holder as `asHolder` does, for a call that ends the lease. Recognizes a repeated call as such.
 */
export async function asEnder(
  context: HolderContext,
  { executionId, leaseToken }: Asked,
  call: string,
): Promise<ExecutionHolder | RepeatedEnd<LockedExecution>> {
  const unit = await lockExecution(context.db, executionId);
  const holder = checkEnder(context, unit, { leaseToken, call }, isOfGrant);
  return holder.kind === 'repeated' ? holder : told(context, holder);
}

async function told<Unit extends LockedRows>(
  { db, caller }: HolderContext,
  holder: LeaseHolder<Unit>,
): Promise<Held<Unit>> {
  const events = await listSignals(db, holder.execution);
  return { ...holder, signals: signalsFor(caller, holder.execution, events) };
}

/** Returns the current execution, as the answer to a repeated call. */
export const standing = ({ execution, lease, now }: LockedRows): Execution =>
  toExecution(execution, lease, now);

/**
 * Writes the holder's change, renews the lease and its locks, and returns the execution with the pending
 * signals.
 */
export function renewAndAnswer(
  context: Writer,
  holder: Held<LockedRows>,
  transition: TransitionName,
  {
    ttlSeconds,
    ...facts
  }: Pick<StepFacts, 'sets' | 'data'> & { readonly ttlSeconds?: number | undefined } = {},
): { execution: Execution; signals: Signal[] } {
  const { db, caller } = context;
  const { execution, now, claim, signals } = holder;
  const taken = step(execution, transition, { ...facts, now, tellsHolder: true });
  const isNews = taken.columns.length > 1 || taken.row.told_seq !== execution.told_seq;
  const ttl = ttlSeconds ?? holder.lease.ttl_seconds ?? 0;
  // If only the lease's expiry changed, the renewing statement itself contains the fencing condition.
  const write = isNews ? setExecution(taken, caller.actor, claim) : null;
  const lease = renewAfter(context, holder, write, ttl);
  db.later(keepLocks(execution.id, later(now, ttl)));
  return { execution: toExecution(isNews ? taken.row : execution, lease, now), signals };
}

/**
 * Writes the holder's last transition while its grant is still valid. Frees the lease and the locks as the
 * transition requires. `hadLanded` is true if a merge was observed while the work was held. The merge then
 * completes the work now.
 */
export function endLease(
  context: Writer,
  { execution, lease, claim, now }: Held<LockedRows>,
  call: string,
  transition: TransitionName,
  { hadLanded = false, ...facts }: Pick<StepFacts, 'sets' | 'data'> & { readonly hadLanded?: boolean },
): Execution {
  const taken = step(execution, transition, { ...facts, now, tellsHolder: true });
  writeStep(context, taken, lease, { claim, call });
  if (!hadLanded) return toExecution(taken.row, undefined, now);
  const completed = step(taken.row, 'observeMerge', { now, tellsHolder: true });
  writeStep(context, completed, undefined);
  return toExecution(completed.row, undefined, now);
}
