import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { lockClaimant } from '../../data/claimants.ts';
import { insertCoordinationLease, lockCoordinationLease } from '../../data/group-leases.ts';
import { listGroupSignals } from '../../data/group-signals.ts';
import { groupSubject, lockGroup, updateGroup, toGroup } from '../../data/groups.ts';
import {
  grantedRow,
  grantLease,
  toHeldLease,
  newGrant,
  readClock,
  reissueLeaseToken,
} from '../../data/leases.ts';
import { decideAcquire, leaseHeldDetails } from '../../rules/acquire.ts';
import { isFinalGroupState } from '../../rules/group-states.ts';
import { leaseDurationSeconds } from '../../rules/ttl.ts';

/** Grants the coordinator's lease of a delivery group, or extends it for its holder. */
export const acquireLease = handle(
  deliveryRegistry.deliveryGroups.acquireLease,
  async ({ params, caller, db, policy: askPolicy, emit, refuse }) => {
    const { memberId, agentId } = caller;
    const { groupId } = params;
    const runId = params.runId ?? null;
    const [, group, , lease, news, now, policy] = await Promise.all([
      lockClaimant(db, caller),
      lockGroup(db, groupId),
      insertCoordinationLease(db, groupId),
      lockCoordinationLease(db, groupId),
      listGroupSignals(db, caller, groupId),
      readClock(db),
      askPolicy(),
    ]);
    if (lease === undefined) throw new Error('the group has no lease');
    if (isFinalGroupState(group.state)) throw refuse('invalid_transition', { state: group.state });

    // The coordinator's lease conflicts with no holder's work, and it cannot be offered or stopped.
    const decision = decideAcquire({
      now,
      caller: { memberId, agentId, runId },
      isLead: false,
      takeOver: false,
      targetLease: toHeldLease(lease),
      rivalLeases: [],
      execution: null,
      hasOpenChildren: false,
      isStopped: false,
      isOverBudget: false,
      isTargetNamed: true,
      mayLiftStop: false,
      rivalExecutions: [],
    });
    if (decision.kind === 'refuse')
      throw refuse(
        'lease_held',
        decision.reason === 'lease_held' ? leaseHeldDetails(decision.conflictingLease, caller, null) : {},
      );
    const isExtension = decision.kind === 'extend';
    const { grant, leaseToken } = newGrant(lease, caller, {
      isExtension,
      runId,
      ttlSeconds: leaseDurationSeconds(params.ttlSeconds, policy),
      now,
    });
    db.deferToCommit(grantLease(grant));
    // A new holder reads the whole group, so earlier signals tell it nothing new.
    db.deferToCommit(updateGroup({ ...group, told_seq: news.lastDeliveredSeq }, ['told_seq']));
    if (!isExtension)
      emit('group.leaseAcquired', groupSubject(group), {
        epoch: grant.newEpoch,
        fromMemberId: decision.superseded?.holder.memberId ?? null,
        fromAgentId: decision.superseded?.holder.agentId ?? null,
      });
    const granted = toGroup(group, grantedRow(lease, grant));
    return { group: granted, leaseToken, signals: isExtension ? news.signals : [] };
  },
  {
    reissueSecret: async ({ caller, db }, kept) => {
      const { id, lease } = kept.group;
      return { ...kept, leaseToken: await reissueLeaseToken(db, caller, 'coordination', id, lease) };
    },
  },
);
