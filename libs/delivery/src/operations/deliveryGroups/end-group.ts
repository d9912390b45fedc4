/** The end of a group: its stories are free, nobody coordinates it, and nobody works on it any more. */
import { type GroupState, type registry } from '@muster/registry';
import { type HandlerContext } from '@muster/runtime';
import { changedExecution, type ExecutionChanges, freeLocksOf, setExecution } from '../../data/executions.ts';
import { lockGroupLeases, lockOpenExecutions } from '../../data/group-leases.ts';
import { freeStories, getMergeProof } from '../../data/group-stories.ts';
import { aboutGroup, type GroupRow } from '../../data/groups.ts';
import { freeLease, heldOf, readClock, toHeldLease } from '../../data/leases.ts';
import { heldByAnother, heldDetails } from '../../rules/acquire.ts';

type Context = HandlerContext<typeof registry.deliveryGroups.update>;

/** All that the end goes by; it goes out behind the statement that locks the group. */
export async function lockEnd({ db, caller: { orgId }, params: { groupId }, policy }: Context) {
  const [leases, [execution], now, rules, proof] = await Promise.all([
    lockGroupLeases(db, orgId, groupId),
    lockOpenExecutions(db, orgId, [groupId]),
    readClock(db),
    policy(),
    getMergeProof(db, orgId, groupId),
  ]);
  return { leases, execution, now, policy: rules, proof };
}
type End = Awaited<ReturnType<typeof lockEnd>>;

/** Ends what hangs on a locked group, if nobody else is at work on it and the policy is met. */
export function endGroup(
  { db, caller, emit, refuse }: Context,
  group: GroupRow,
  state: GroupState,
  { leases, execution, now, policy, proof }: End,
): void {
  const { orgId, actor } = caller;
  const inTheWay = heldByAnother(leases.work && toHeldLease(leases.work), caller, now);
  if (inTheWay !== null) throw refuse('lease_held', heldDetails(inTheWay));
  if (state === 'landed' && policy.requireMergeProof && !proof.isMerged) {
    throw refuse('policy', { unmet: [{ gate: 'requireMergeProof', stories: proof.unmerged }] });
  }
  db.later(freeStories(orgId, group.id));
  for (const lease of [leases.coordination, leases.work]) {
    if (lease !== undefined && heldOf(lease) !== undefined) {
      db.later(freeLease(orgId, lease.unit_type, lease.unit_id, lease.epoch));
    }
  }
  if (execution === undefined) return;
  const outcome = state === 'landed' ? 'succeeded' : 'canceled';
  const changes: ExecutionChanges = {
    state: 'completed',
    outcome,
    completed_at: now,
    needs_rework: false,
    offer: null,
    waiting_for: null,
    stop_requested: null,
  };
  const deeds = [{ kind: 'completed', data: { outcome } }];
  const changed = changedExecution(execution, changes, now, deeds);
  const columns = Object.keys(changes) as (keyof ExecutionChanges)[];
  db.later(setExecution(orgId, changed, columns, actor, deeds));
  db.later(freeLocksOf(orgId, execution.id));
  emit('execution.completed', aboutGroup(group), { executionId: execution.id, outcome });
}
