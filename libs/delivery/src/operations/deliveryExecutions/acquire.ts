import { registry } from '@muster/registry';
import { forbidden, handle, type HandlerContext } from '@muster/runtime';
import { type Acquiring, lockForAcquire, newExecution, toOpenExecution } from '../../data/acquiring.ts';
import {
  addContributor,
  changedExecution,
  type Deed,
  type ExecutionChanges,
  freeLocksOf,
  insertExecution,
  setExecution,
  toExecution,
} from '../../data/executions.ts';
import { grantedRow, grantLease, newGrant, toHeldLease } from '../../data/leases.ts';
import { passLocks } from '../../data/passing-locks.ts';
import { listSignals, signalsFor } from '../../data/signals.ts';
import { supersede } from '../../data/superseding.ts';
import { aboutTarget, getTarget, getTargetOf, isOver } from '../../data/targets.ts';
import { decideAcquire, heldDetails, type HeldLease } from '../../rules/acquire.ts';
import { leaseTtl } from '../../rules/ttl.ts';
import { reissueToken } from './reissue.ts';

export const acquire = handle(
  registry.deliveryExecutions.acquire,
  async (context) => {
    const { params, caller, db, policy: askPolicy, projectRank, emit, refuse, perform } = context;
    const { targetType, targetId, start, takeOver } = params;
    const runId = params.runId ?? null;

    // The story's move locks columns, which come before leases; so it goes first.
    if (start && targetType === 'story') {
      const story = await getTarget(db, caller.orgId, targetType, targetId);
      if (story.status === 'backlog' || story.status === 'ready') {
        await perform(registry.stories.updateStatus, { storyId: story.id, status: 'in_progress' });
      }
    }
    const [facts, policy, rank] = await Promise.all([
      lockForAcquire(db, caller.orgId, targetType, targetId),
      askPolicy(),
      projectRank(),
    ]);
    const { target, lease, now } = facts;
    if (isOver(target)) throw refuse('invalid_transition', { status: target.status });

    const me = { memberId: caller.memberId, agentId: caller.agentId, runId };
    const decision = decideAcquire({
      now,
      caller: me,
      isLead: rank >= leadRank,
      takeOver,
      own: toHeldLease(lease),
      rivals: facts.rivals,
      execution: toOpenExecution(facts.execution),
    });
    if (decision.kind === 'refuse') {
      if (decision.reason === 'take_over_forbidden') {
        throw forbidden('take_over', 'Only a lead of the project may take it over.');
      }
      if (decision.reason === 'lease_held') throw refuse('lease_held', heldDetails(decision.by));
      if (decision.reason === 'reserved') throw refuse('reserved', { offer: facts.execution?.offer ?? null });
      const { stop_requested: stop } = facts.execution ?? {};
      throw refuse('stop_requested', {
        stopRequested: stop && { by: stop.by, reason: stop.reason, at: stop.at },
      });
    }

    const extends_ = decision.kind === 'extend';
    const { grant: granted, leaseToken } = newGrant(lease, caller, {
      extends: extends_,
      runId,
      ttlSeconds: leaseTtl(params.ttlSeconds, policy),
      now,
    });

    const before = facts.execution ?? newExecution(target, now);
    const isNew = facts.execution === undefined;
    const signals = extends_ ? signalsFor(me, before, await listSignals(db, caller.orgId, before)) : [];
    const taken = decision.kind === 'grant' ? decision.superseded : null;
    const deeds: Deed[] = extends_
      ? []
      : [
          ...(taken === null
            ? []
            : [{ kind: 'taken_over', data: { from: taken.actor, live: decision.takenOverLive } }]),
          { kind: 'acquired', data: { epoch: granted.newEpoch, attempt: before.attempt + 1, runId } },
        ];
    const changes: ExecutionChanges = {
      ...(params.phase !== undefined && { phase: params.phase }),
      ...(params.deviceId !== undefined && { device_id: params.deviceId }),
      told_seq: before.last_event_seq + deeds.length,
      ...(!extends_ && {
        state: 'leased',
        epoch: granted.newEpoch,
        attempt: before.attempt + 1,
        run_id: runId,
        device_id: params.deviceId ?? null,
        spec_version: target.specVersion,
        offer: null,
        waiting_for: null,
        outcome: null,
        stop_requested: null,
      }),
    };
    const changed = changedExecution(before, changes, now, deeds);
    // Leases first: what follows is fenced by them.
    if (decision.kind === 'grant') await freeRivals(context, facts, decision.freed);
    db.later(grantLease(caller.orgId, granted));
    if (isNew) db.later(insertExecution(caller.orgId, changed, caller.actor, deeds));
    else {
      const columns = Object.keys(changes) as (keyof ExecutionChanges)[];
      db.later(setExecution(caller.orgId, changed, columns, caller.actor, deeds));
    }
    db.later(addContributor(caller.orgId, changed.id, caller, changed.attempt));
    if (decision.kind === 'grant') {
      if (decision.offered) await passLocks(db, caller.orgId, changed.id, { ...me, actor: caller.actor });
      else if (!isNew) db.later(freeLocksOf(caller.orgId, changed.id));
      emit('execution.acquired', aboutTarget(target), {
        executionId: changed.id,
        attempt: changed.attempt,
        resumed: !isNew,
      });
      if (taken !== null) {
        emit('execution.superseded', aboutTarget(target), {
          executionId: changed.id,
          fromMemberId: taken.holder.memberId,
          fromAgentId: taken.holder.agentId,
          live: decision.takenOverLive,
        });
      }
    }
    return {
      execution: toExecution(changed, grantedRow(lease, granted), now),
      leaseToken,
      resumed: !isNew,
      signals,
    };
  },
  { reissue: reissueToken },
);

/** 3 is lead. */
const leadRank = 3;

/** Ends the expired leases of units that exclude this one; their holders are fenced from here on, and told so. */
async function freeRivals(
  { db, caller, emit }: HandlerContext<typeof registry.deliveryExecutions.acquire>,
  { rivalRows, rivalExecutions, now }: Acquiring,
  freed: readonly HeldLease[],
): Promise<void> {
  for (const { targetId, holder } of freed) {
    const row = rivalRows.find(({ unit_id: id }) => id === targetId);
    if (row === undefined) continue;
    const execution = rivalExecutions.find(({ target_id: id }) => id === targetId);
    supersede(db, caller, row, execution, now);
    if (execution === undefined) continue;
    emit('execution.superseded', aboutTarget(await getTargetOf(db, caller.orgId, execution.id)), {
      executionId: execution.id,
      fromMemberId: holder.memberId,
      fromAgentId: holder.agentId,
      live: false,
    });
  }
}
