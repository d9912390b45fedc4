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
import { endedBy, holds, later, type LeaseRow, renewLease } from '../../data/leases.ts';
import { lockExecution } from '../../data/locked-executions.ts';
import { listSignals, signalsFor } from '../../data/signals.ts';
import { type Target } from '../../data/targets.ts';
import { claimOf, type LeaseClaim } from '../../rules/lease-tokens.ts';

/** Lease and execution, locked, of whoever holds the newest grant. */
export interface Grip {
  readonly kind: 'held';
  readonly execution: ExecutionRow;
  readonly lease: LeaseRow;
  readonly claim: LeaseClaim;
  readonly now: string;
  readonly target: Target;
  readonly signals: Signal[];
}

/** The same token ended the grant by this same operation before: its call is repeated. */
export interface Repeated {
  readonly kind: 'repeated';
  readonly execution: Execution;
}

interface Context {
  readonly db: Db;
  readonly caller: Caller;
  readonly refuse: (reason: 'stale_lease', details: Record<string, unknown>) => ApiError;
}

/**
 * Lets the holder of the newest grant on. Any other token, also a made-up one or that of another member, is refused as
 * stale; one that ended the grant by `operation` hears again how the execution is.
 */
export async function asHolder(
  { db, caller, refuse }: Context,
  { executionId, leaseToken }: { readonly executionId: string; readonly leaseToken: string },
  operation: string,
): Promise<Grip | Repeated> {
  const claim = claimOf(leaseToken);
  // The signals are read behind the locks: statements of one tick go out in their order.
  const [{ lease, execution, now, target }, events] = await Promise.all([
    lockExecution(db, caller.orgId, executionId),
    listSignals(db, caller.orgId, executionId),
  ]);
  const isOwn = lease?.member_id === caller.memberId && lease.agent_id === caller.agentId;
  if (holds(lease, claim) && isOwn && execution.epoch === claim.epoch && execution.state !== 'completed') {
    const holder = { memberId: caller.memberId, agentId: caller.agentId };
    return {
      kind: 'held',
      execution,
      lease,
      claim,
      now,
      target,
      signals: signalsFor(holder, execution, events),
    };
  }
  if (endedBy(lease, claim, operation)) {
    return { kind: 'repeated', execution: toExecution(execution, lease, now) };
  }
  throw refuse('stale_lease', { currentEpoch: lease?.epoch ?? 0 });
}

/** The lease with its time begun anew: any operation of the holder renews. */
function renewed(
  orgId: string,
  grip: Grip,
  ttlSeconds: number,
): { lease: LeaseRow; query: Parameters<Db['later']>[0] } {
  const expiresAt = later(grip.now, ttlSeconds);
  const { unit_type: unitType, unit_id: unitId } = grip.lease;
  return {
    lease: { ...grip.lease, ttl_seconds: ttlSeconds, expires_at: expiresAt },
    query: renewLease(orgId, unitType, unitId, grip.claim, ttlSeconds, expiresAt),
  };
}

/** Writes what the holder did, renews, and answers with what it should know. */
export function goOn(
  { db, caller }: Pick<Context, 'db' | 'caller'>,
  grip: Grip,
  {
    changes = {},
    deeds = [],
    ttlSeconds,
  }: { changes?: ExecutionChanges; deeds?: readonly Deed[]; ttlSeconds?: number },
): { execution: Execution; signals: Signal[] } {
  const lease = renewed(caller.orgId, grip, ttlSeconds ?? grip.lease.ttl_seconds ?? 0);
  const toldSeq = grip.execution.last_event_seq + deeds.length;
  const all = { ...changes, told_seq: toldSeq };
  const changed = changedExecution(grip.execution, all, grip.now, deeds);
  const columns = Object.keys(all) as (keyof ExecutionChanges)[];
  db.later(setExecution(caller.orgId, changed, columns, caller.actor, deeds, grip.claim));
  db.later(lease.query);
  return { execution: toExecution(changed, lease.lease, grip.now), signals: grip.signals };
}
