/** Ends a group: its stories leave it, and its coordinator and the holder of its work lose their leases. */
import { type GroupState, needsVerifiedMerge, unmetMergeProof } from '@muster/contract';
import { type deliveryRegistry } from '@muster/delivery-registry';
import { type HandlerContext } from '@muster/runtime';
import { lockGroupLeases, lockOpenExecutions } from '../../data/group-leases.ts';
import { releaseStoriesOfGroup, getMergeProof } from '../../data/group-stories.ts';
import { groupSubject, type GroupRow } from '../../data/groups.ts';
import { freeLease, toHeldLease, readClock } from '../../data/leases.ts';
import { applyTransition } from '../../leases/step.ts';
import { writeStep } from '../../leases/write-step.ts';
import { findLiveLeaseOfAnother, leaseHeldDetails } from '../../rules/acquire.ts';

type UpdateGroupContext = HandlerContext<typeof deliveryRegistry.deliveryGroups.update>;

/**
 * Reads all that ending a group depends on. The queries are pipelined behind the one that locks the group.
 */
export async function lockForGroupEnd({ db, params: { groupId }, policy }: UpdateGroupContext) {
  const [leases, [execution], now, rules, proof] = await Promise.all([
    lockGroupLeases(db, groupId),
    lockOpenExecutions(db, [groupId]),
    readClock(db),
    policy(),
    getMergeProof(db, groupId),
  ]);
  const held = toHeldLease(leases.coordinationLease);
  const coordinator = held && { memberId: held.holder.memberId, agentId: held.holder.agentId };
  return { leases, coordinator, execution, now, policy: rules, proof };
}
type GroupEndFacts = Awaited<ReturnType<typeof lockForGroupEnd>>;

/**
 * Ends the leases and work of a locked group. Throws if another caller works on it or if the policy is not
 * met.
 */
export function endGroup(
  context: UpdateGroupContext,
  group: GroupRow,
  state: GroupState,
  { leases, execution, now, policy, proof }: GroupEndFacts,
): void {
  const { db, caller, emit, refuse } = context;
  const inTheWay = findLiveLeaseOfAnother(toHeldLease(leases.workLease), caller, now);
  if (inTheWay !== null) throw refuse('lease_held', leaseHeldDetails(inTheWay, caller, null));
  if (state === 'landed') {
    const missing = unmetMergeProof(policy, proof.strongestTrust);
    const stories = proof.unmergedKeysByTrust[needsVerifiedMerge(policy) ? 'verified' : 'reported'];
    const unmet = [
      ...(missing === undefined ? [] : [{ ...missing, stories }]),
      ...(caller.agentId !== null && !policy.agentsMayComplete ? [{ gate: 'agentsMayComplete' }] : []),
    ];
    if (unmet.length > 0) throw refuse('policy', { unmet });
  }
  db.deferToCommit(releaseStoriesOfGroup(group.id));
  const coordination = toHeldLease(leases.coordinationLease);
  if (coordination !== null) db.deferToCommit(freeLease(coordination.leaseRow));
  if (execution === undefined) return;
  writeStep(
    context,
    applyTransition(execution, state === 'landed' ? 'land' : 'cancel', { now }),
    leases.workLease,
  );
  const { id: executionId } = execution;
  emit('execution.completed', groupSubject(group), {
    executionId,
    outcome: state === 'landed' ? 'succeeded' : 'canceled',
  });
}
