/** The lease holder's calls on an execution of a story or a delivery group. */
import { type Db } from '@muster/driver';
import { type Execution, type Signal, type UsageReport } from '@muster/contract';
import { updateExecution, toExecution } from '../data/executions.ts';
import { addSeconds } from '../data/leases.ts';
import {
  type LockedExecution,
  type LockedExecutionRows,
  lockExecution,
  lockExecutionRows,
} from '../data/locked-executions.ts';
import { extendLocks } from '../data/locks.ts';
import { findBudgetStop, withBudgetStop, type ExceededBudget } from '../data/exceeded-budgets.ts';
import { listUndeliveredEvents, signalsFor } from '../data/signals.ts';
import { runIdOfLease } from '../data/usage.ts';
import { type LeaseClaim } from '../rules/lease-tokens.ts';
import {
  checkHolderToEnd,
  checkHolder,
  type HolderContext,
  type LeaseHolder,
  renewLeaseAfterWrite,
  type RepeatedLeaseEnd,
  type LeaseWriteContext,
} from './holder.ts';
import { reportUsage, type UsageContext } from './report-usage.ts';
import { canTransition, type TransitionName } from './states.ts';
import { applyTransition, type StepInput } from './step.ts';
import { writeStep } from './write-step.ts';

interface LeaseTokenParams {
  readonly executionId: string;
  readonly leaseToken: string;
}

type HolderWithSignals<Unit extends LockedExecutionRows> = LeaseHolder<Unit> & { readonly signals: Signal[] };

/**
 * The holder of an execution with the story or group it works on. Callers that emit events need that target.
 */
export type ExecutionHolder = HolderWithSignals<LockedExecution>;

const isUnderGrant = ({ execution }: LockedExecutionRows, { epoch }: LeaseClaim): boolean =>
  execution.epoch === epoch && canTransition('renew', execution.state);

const createRequireHolder =
  <Unit extends LockedExecutionRows>(lock: (db: Db, executionId: string) => Promise<Unit>) =>
  async (
    context: HolderContext,
    { executionId, leaseToken }: LeaseTokenParams,
  ): Promise<HolderWithSignals<Unit>> => {
    const [unit, stop] = await Promise.all([
      lock(context.db, executionId),
      findBudgetStop(context.db, executionId),
    ]);
    return withSignals(context, checkHolder(context, unit, leaseToken, isUnderGrant), stop);
  };

/**
 * Checks that the caller holds the execution, and loads its target and pending signals. Throws `stale_lease`
 * otherwise.
 */
export const requireHolder = createRequireHolder(lockExecution);

/**
 * Checks the holder as `requireHolder` does, without loading the target. Loading it would cost as much as the rest
 * of a renewal.
 */
export const requireHolderWithoutTarget = createRequireHolder(lockExecutionRows);

/**
 * Checks the holder as `requireHolder` does, for a call that ends the lease. Recognizes a repeated call as such.
 */
export async function requireHolderToEnd(
  context: HolderContext,
  { executionId, leaseToken }: LeaseTokenParams,
  endingCall: string,
): Promise<ExecutionHolder | RepeatedLeaseEnd<LockedExecution>> {
  const unit = await lockExecution(context.db, executionId);
  const holder = checkHolderToEnd(context, unit, { leaseToken, call: endingCall }, isUnderGrant);
  return holder.kind === 'repeated' ? holder : withSignals(context, holder, undefined);
}

async function withSignals<Unit extends LockedExecutionRows>(
  { db, caller }: HolderContext,
  holder: LeaseHolder<Unit>,
  stop: ExceededBudget | undefined,
): Promise<HolderWithSignals<Unit>> {
  const events = await listUndeliveredEvents(db, holder.execution);
  // No write of a holder contains this column, so the stop of a budget is shown and not stored.
  const execution = withBudgetStop(holder.execution, stop);
  return { ...holder, execution, signals: signalsFor(caller, execution, events) };
}

/**
 * Records the totals that the holder reports for its run. The answer contains a stop if they use up a budget. A
 * lease without a run is a run of its own.
 */
export async function withReportedUsage<Unit extends LockedExecutionRows>(
  context: HolderContext & UsageContext,
  holder: HolderWithSignals<Unit>,
  report: UsageReport | undefined,
): Promise<HolderWithSignals<Unit>> {
  if (report === undefined) return holder;
  const { execution } = holder;
  const { memberId, agentId } = context.caller;
  const isStopped = await reportUsage(
    context,
    {
      ...{ projectId: execution.project_id, memberId, agentId },
      runId: execution.run_id ?? runIdOfLease(execution),
      storyId: execution.target_type === 'story' ? execution.target_id : null,
    },
    report,
  );
  if (!isStopped || execution.stop_requested !== null) return holder;
  return withSignals(context, holder, await findBudgetStop(context.db, execution.id));
}

/** Returns the current execution, as the answer to a repeated call. */
export const currentExecution = ({ execution, lease, now }: LockedExecutionRows): Execution =>
  toExecution(execution, lease, now);

/**
 * Writes the holder's change, renews the lease and its locks, and returns the execution with the pending
 * signals.
 */
export function writeAndRenewLease(
  context: LeaseWriteContext,
  holder: HolderWithSignals<LockedExecutionRows>,
  transition: TransitionName,
  {
    ttlSeconds,
    ...facts
  }: Pick<StepInput, 'sets' | 'data'> & { readonly ttlSeconds?: number | undefined } = {},
): { execution: Execution; signals: Signal[] } {
  const { db, caller } = context;
  const { execution, now, claim, signals } = holder;
  const taken = applyTransition(execution, transition, { ...facts, now, isHolderAware: true });
  const isNews = taken.columns.length > 1 || taken.row.told_seq !== execution.told_seq;
  const ttl = ttlSeconds ?? holder.lease.ttl_seconds ?? 0;
  // If only the lease's expiry changed, the renewing statement itself contains the fencing condition.
  const write = isNews ? updateExecution(taken, caller.actor, claim) : null;
  const lease = renewLeaseAfterWrite(context, holder, write, ttl);
  db.deferToCommit(extendLocks(execution.id, addSeconds(now, ttl)));
  return { execution: toExecution(isNews ? taken.row : execution, lease, now), signals };
}

/**
 * Writes the holder's last transition while its grant is still valid. Frees the lease and the locks as the
 * transition requires. `hadLanded` is true if a merge was observed while the work was held. The merge then
 * completes the work now.
 */
export function endExecutionLease(
  context: LeaseWriteContext,
  { execution, lease, claim, now }: HolderWithSignals<LockedExecutionRows>,
  endingCall: string,
  transition: TransitionName,
  { hadLanded = false, ...facts }: Pick<StepInput, 'sets' | 'data'> & { readonly hadLanded?: boolean },
): Execution {
  const taken = applyTransition(execution, transition, { ...facts, now, isHolderAware: true });
  writeStep(context, taken, lease, { claim, endingCall });
  if (!hadLanded) return toExecution(taken.row, undefined, now);
  const completed = applyTransition(taken.row, 'observeMerge', { now, isHolderAware: true });
  writeStep(context, completed, undefined);
  return toExecution(completed.row, undefined, now);
}
