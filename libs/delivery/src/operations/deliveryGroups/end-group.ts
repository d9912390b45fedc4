/** Ends a group: its stories leave it, and its coordinator and the holder of its work lose their leases. */
import { type GroupState, needsVerifiedMerge, type registry, unmetMergeProof } from '@muster/registry';
import { type HandlerContext } from '@muster/runtime';
import { lockGroupLeases, lockOpenExecutions } from '../../data/group-leases.ts';
import { freeStories, getMergeProof } from '../../data/group-stories.ts';
import { aboutGroup, type GroupRow } from '../../data/groups.ts';
import { freeLease, heldLease, readClock } from '../../data/leases.ts';
import { step } from '../../leases/step.ts';
import { writeStep } from '../../leases/write-step.ts';
import { heldByAnother, heldDetails } from '../../rules/acquire.ts';

type Context = HandlerContext<typeof registry.deliveryGroups.update>;

/**
 * Reads all that ending a group depends on. The queries are pipelined behind the one that locks the group.
 */
export async function lockEnd({ db, params: { groupId }, policy }: Context) {
  const [leases, [execution], now, rules, proof] = await Promise.all([
    lockGroupLeases(db, groupId),
    lockOpenExecutions(db, [groupId]),
    readClock(db),
    policy(),
    getMergeProof(db, groupId),
  ]);
  return { leases, execution, now, policy: rules, proof };
}
type End = Awaited<ReturnType<typeof lockEnd>>;

/**
 * Ends the leases and work of a locked group. Throws if another caller works on it or if the policy is not
 * met.
 */
export function endGroup(
  context: Context,
  group: GroupRow,
  state: GroupState,
  { leases, execution, now, policy, proof }: End,
): void {
  const { db, caller, emit, refuse } = context;
  const inTheWay = heldByAnother(heldLease(leases.work), caller, now);
  if (inTheWay !== null) throw refuse('lease_held', heldDetails(inTheWay, caller, null));
  if (state === 'landed') {
    const missing = unmetMergeProof(policy, proof.seen);
    const stories = proof.unmerged[needsVerifiedMerge(policy) ? 'verified' : 'reported'];
    const unmet = [
      ...(missing === undefined ? [] : [{ ...missing, stories }]),
      ...(caller.agentId !== null && !policy.agentsMayComplete ? [{ gate: 'agentsMayComplete' }] : []),
    ];
    if (unmet.length > 0) throw refuse('policy', { unmet });
  }
  db.later(freeStories(group.id));
  const coordination = heldLease(leases.coordination);
  if (coordination !== null) db.later(freeLease(coordination.row));
  if (execution === undefined) return;
  writeStep(context, step(execution, state === 'landed' ? 'land' : 'cancel', { now }), leases.work);
  const { id: executionId } = execution;
  emit('execution.completed', aboutGroup(group), {
    executionId,
    outcome: state === 'landed' ? 'succeeded' : 'canceled',
  });
}
