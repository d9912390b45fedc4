import { projectRoles, registry } from '@muster/registry';
import { forbidden, handle, type HandlerContext } from '@muster/runtime';
import { type Acquiring, lockForAcquire, newExecution, toOpenExecution } from '../../data/acquiring.ts';
import { lockClaimant } from '../../data/claimants.ts';
import { addContributor, insertExecution, toExecution } from '../../data/executions.ts';
import { grantedRow, grantLease, heldLease, later, newGrant } from '../../data/leases.ts';
import { keepLocks } from '../../data/locks.ts';
import { passLocks } from '../../data/passing-locks.ts';
import { listSignals, signalsFor } from '../../data/signals.ts';
import { aboutTarget, getTarget, getTargetOf, isOver } from '../../data/targets.ts';
import { step } from '../../leases/step.ts';
import { supersede } from '../../leases/superseding.ts';
import { writeStep } from '../../leases/write-step.ts';
import { decideAcquire, heldDetails, type HeldLease } from '../../rules/acquire.ts';
import { leaseTtl } from '../../rules/ttl.ts';
import { reissueToken } from './reissue.ts';

export const acquire = handle(
  registry.deliveryExecutions.acquire,
  async (context) => {
    const { params, targetId, caller, db, policy: askPolicy, projectRank, emit, refuse, perform } = context;
    const { targetType, start, takeOver } = params;
    const runId = params.runId ?? null;

    // The story's move locks columns, which come before leases; so it goes first.
    if (start && targetType === 'story') {
      const [, story] = await Promise.all([lockClaimant(db, caller), getTarget(db, targetType, targetId)]);
      if (story.status === 'backlog' || story.status === 'ready') {
        await perform(registry.stories.updateStatus, { storyId: story.id, status: 'in_progress' });
      }
    }
    const [, facts, policy, rank] = await Promise.all([
      lockClaimant(db, caller),
      lockForAcquire(db, targetType, targetId),
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
      own: heldLease(lease),
      rivals: facts.rivals,
      execution: toOpenExecution(facts.execution),
    });
    if (decision.kind === 'refuse') {
      if (decision.reason === 'take_over_forbidden') {
        throw forbidden('take_over', undefined, { needed: 'lead', held: projectRoles[rank - 1] });
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
    const signals = extends_ ? signalsFor(me, before, await listSignals(db, before)) : [];
    const taken = extends_ ? null : decision.superseded;
    const takenOverLive = !extends_ && decision.takenOverLive;
    const attempt = before.attempt + 1;
    const deed = extends_ ? 'renew' : isNew ? 'begin' : decision.offered ? 'accept' : 'acquire';
    const taking = step(before, deed, {
      now,
      sets: {
        ...(params.phase !== undefined && { phase: params.phase }),
        ...(params.deviceId !== undefined && { device_id: params.deviceId }),
        ...(!extends_ && {
          epoch: granted.newEpoch,
          attempt,
          run_id: runId,
          device_id: params.deviceId ?? null,
          spec_version: target.specVersion,
        }),
      },
      earlier:
        taken === null ? [] : [{ kind: 'taken_over', data: { from: taken.actor, live: takenOverLive } }],
      data: { epoch: granted.newEpoch, attempt, runId },
      tellsHolder: true,
    });
    const changed = taking.row;
    // Leases first: what follows is fenced by them.
    if (decision.kind === 'grant') await freeRivals(context, facts, decision.freed);
    db.later(grantLease(granted));
    if (isNew) db.later(insertExecution(taking, caller.actor));
    else writeStep(context, taking, lease);
    db.later(addContributor(changed.id, caller, changed.attempt));
    const expiresAt = later(now, granted.ttlSeconds);
    if (extends_) db.later(keepLocks(changed.id, expiresAt));
    if (decision.kind === 'grant') {
      if (decision.offered) {
        await passLocks(db, changed.id, { ...me, actor: caller.actor }, expiresAt);
      }
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
          live: takenOverLive,
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
    emit('execution.superseded', aboutTarget(await getTargetOf(db, execution.id)), {
      executionId: execution.id,
      fromMemberId: holder.memberId,
      fromAgentId: holder.agentId,
      live: false,
    });
  }
}
