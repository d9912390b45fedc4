/** What every operation of a holder does alike: it locks lease and execution, and lets only the newest grant on. */
import { type Db } from '@muster/database';
import { type Execution, type Signal } from '@muster/registry';
import { type ApiError, type Caller } from '@muster/runtime';
import {
  changedExecution,
  type Deed,
  type ExecutionChanges,
  type ExecutionRow,
  setExecution,
  toExecution,
} from '../../data/executions.ts';
import { endedBy, holds, type LeaseRow, renewed } from '../../data/leases.ts';
import { lockExecution, lockExecutionRows, type LockedRows } from '../../data/locked-executions.ts';
import { listSignals, signalsFor } from '../../data/signals.ts';
import { type Target } from '../../data/targets.ts';
import { claimOf, type LeaseClaim } from '../../rules/lease-tokens.ts';

/** Lease and execution, locked, of whoever holds the newest grant. */
export interface Hold {
  readonly kind: 'held';
  readonly execution: ExecutionRow;
  readonly lease: LeaseRow;
  readonly claim: LeaseClaim;
  readonly now: string;
  readonly signals: Signal[];
}

/** The same, by those who say what happened to what they work on. */
export interface Grip extends Hold {
  readonly target: Target;
}

/** The same token ended the grant by this same call before: it is repeated. */
export interface RepeatedHold {
  readonly kind: 'repeated';
  readonly execution: Execution;
  readonly currentEpoch: number;
}

export interface Repeated extends RepeatedHold {
  readonly target: Target;
}

interface Context {
  readonly db: Db;
  readonly caller: Caller;
  readonly refuse: (reason: 'stale_lease', details: Record<string, unknown>) => ApiError;
}

/**
 * Lets the holder of the newest grant on. Any other token, also a made-up one or that of another member, is refused as
 * stale; one that ended the grant by this same `call` hears again how the execution is.
 */
export async function asHolder(context: Context, held: Held, call: string): Promise<Grip | Repeated> {
  const { target, ...rows } = await lockExecution(context.db, context.caller.orgId, held.executionId);
  return { ...(await judge(context, held, call, rows)), target };
}

/** The same for those who say nothing: a look at the target costs as much as the rest of a renewal. */
export const asQuietHolder = async (
  context: Context,
  held: Held,
  call: string,
): Promise<Hold | RepeatedHold> =>
  judge(context, held, call, await lockExecutionRows(context.db, context.caller.orgId, held.executionId));

interface Held {
  readonly executionId: string;
  readonly leaseToken: string;
}

async function judge(
  { db, caller, refuse }: Context,
  { leaseToken }: Held,
  call: string,
  { lease, execution, now }: LockedRows,
): Promise<Hold | RepeatedHold> {
  const claim = claimOf(leaseToken);
  const isHeld = lease !== undefined && holds(lease, claim, caller);
  if (isHeld && execution.epoch === claim.epoch && execution.state !== 'completed') {
    const holder = { memberId: caller.memberId, agentId: caller.agentId };
    const events = await listSignals(db, caller.orgId, execution);
    const signals = signalsFor(holder, execution, events);
    return { kind: 'held', execution, lease, claim, now, signals };
  }
  if (endedBy(lease, claim, call)) {
    return {
      kind: 'repeated',
      execution: toExecution(execution, lease, now),
      currentEpoch: lease?.epoch ?? 0,
    };
  }
  throw refuse('stale_lease', { currentEpoch: lease?.epoch ?? 0 });
}

/** Writes what the holder did, renews, and answers with what it should know. */
export function goOn(
  { db, caller }: Pick<Context, 'db' | 'caller'>,
  grip: Hold,
  {
    changes = {},
    deeds = [],
    ttlSeconds,
  }: { changes?: ExecutionChanges; deeds?: readonly Deed[]; ttlSeconds?: number | undefined },
): { execution: Execution; signals: Signal[] } {
  const lease = renewed(caller.orgId, grip, ttlSeconds ?? grip.lease.ttl_seconds ?? 0);
  const toldSeq = grip.execution.last_event_seq + deeds.length;
  const isNothingNew = toldSeq === grip.execution.told_seq && Object.keys(changes).length === 0;
  if (isNothingNew) {
    // Only the lease's time has changed, and that statement has the fence in it.
    db.later(lease.query);
    return { execution: toExecution(grip.execution, lease.lease, grip.now), signals: grip.signals };
  }
  const all = { ...changes, told_seq: toldSeq };
  const changed = changedExecution(grip.execution, all, grip.now, deeds);
  const columns = Object.keys(all) as (keyof ExecutionChanges)[];
  db.later(setExecution(caller.orgId, changed, columns, caller.actor, deeds, grip.claim));
  db.later(lease.query);
  return { execution: toExecution(changed, lease.lease, grip.now), signals: grip.signals };
}
