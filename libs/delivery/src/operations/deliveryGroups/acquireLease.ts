import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { lockClaimant } from '../../data/claimants.ts';
import { insertCoordination, lockCoordination } from '../../data/group-leases.ts';
import { listGroupSignals } from '../../data/group-signals.ts';
import { aboutGroup, lockGroup, setGroup, toGroup } from '../../data/groups.ts';
import {
  grantedRow,
  grantLease,
  heldLease,
  newGrant,
  readClock,
  reissueLeaseToken,
} from '../../data/leases.ts';
import { decideAcquire, heldDetails } from '../../rules/acquire.ts';
import { isOverGroup } from '../../rules/group-states.ts';
import { leaseTtl } from '../../rules/ttl.ts';

export const acquireLease = handle(
  registry.deliveryGroups.acquireLease,
  async ({ params, caller, db, policy: askPolicy, emit, refuse }) => {
    const { memberId, agentId } = caller;
    const { groupId } = params;
    const runId = params.runId ?? null;
    const [, group, , lease, news, now, policy] = await Promise.all([
      lockClaimant(db, caller),
      lockGroup(db, groupId),
      insertCoordination(db, groupId),
      lockCoordination(db, groupId),
      listGroupSignals(db, caller, groupId),
      readClock(db),
      askPolicy(),
    ]);
    if (lease === undefined) throw new Error('the group has no lease');
    if (isOverGroup(group.state)) throw refuse('invalid_transition', { state: group.state });

    // The coordinator's lease conflicts with no holder's work, and it cannot be offered or stopped.
    const decision = decideAcquire({
      now,
      caller: { memberId, agentId, runId },
      isLead: false,
      takeOver: false,
      own: heldLease(lease),
      rivals: [],
      execution: null,
      isStopped: false,
      liftsStop: false,
      rivalExecutions: [],
    });
    if (decision.kind === 'refuse') {
      throw refuse(
        'lease_held',
        decision.reason === 'lease_held' ? heldDetails(decision.by, caller, null) : {},
      );
    }
    const goesOn = decision.kind === 'extend';
    const { grant, leaseToken } = newGrant(lease, caller, {
      extends: goesOn,
      runId,
      ttlSeconds: leaseTtl(params.ttlSeconds, policy),
      now,
    });
    db.later(grantLease(grant));
    db.later(setGroup({ ...group, told_seq: news.toldSeq }, ['told_seq']));
    if (!goesOn) {
      emit('group.leaseAcquired', aboutGroup(group), {
        epoch: grant.newEpoch,
        fromMemberId: decision.superseded?.holder.memberId ?? null,
      });
    }
    const granted = toGroup(group, grantedRow(lease, grant));
    return { group: granted, leaseToken, signals: goesOn ? news.signals : [] };
  },
  {
    reissue: async ({ caller, db }, kept) => {
      const { id, lease } = kept.group;
      return { ...kept, leaseToken: await reissueLeaseToken(db, caller, 'coordination', id, lease) };
    },
  },
);
