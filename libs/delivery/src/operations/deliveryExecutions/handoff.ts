import { type Db, orgFilter, sql } from '@muster/driver';
import { deliveryRegistry } from '@muster/delivery-registry';
import { handle, pathNotFound } from '@muster/runtime';
import { tryLockActiveAgent } from '../../data/claimants.ts';
import { addSeconds } from '../../data/leases.ts';
import { extendLocks } from '../../data/locks.ts';
import { targetSubject } from '../../data/targets.ts';
import { requireHolderToEnd, endExecutionLease, currentExecution } from '../../leases/execution-holder.ts';

export const handoff = handle(deliveryRegistry.deliveryExecutions.handoff, async (context) => {
  const { params, db, emit, refuse } = context;
  const { executionId, leaseToken, offerTtlSeconds } = params;
  const toMemberId = params.toMemberId ?? null;
  const toAgentId = params.toAgentId ?? null;
  // The call's name contains the addressee: a retry with another addressee is a different call.
  const call = `handoff to ${toMemberId ?? toAgentId ?? ''}`;
  const [isThere, acts, holder] = await Promise.all([
    canContribute(db, executionId, { toMemberId, toAgentId }),
    toAgentId === null ? true : tryLockActiveAgent(db, toAgentId),
    requireHolderToEnd(context, { executionId, leaseToken }, call),
  ]);
  if (holder.kind === 'repeated') return { execution: currentExecution(holder) };
  if (!isThere || !acts) throw pathNotFound(toAgentId === null ? 'toMemberId' : 'toAgentId');
  if (holder.execution.checkpoint === null) throw refuse('checkpoint_required');

  const note = params.note ?? null;
  const expiresAt = addSeconds(holder.now, offerTtlSeconds);
  // The locks stay until the offer expires, because the work stays reserved until then.
  db.deferToCommit(extendLocks(executionId, expiresAt));
  emit('execution.offered', targetSubject(holder.target), { executionId, toMemberId, toAgentId });
  return {
    execution: endExecutionLease(context, holder, call, 'handOff', {
      sets: { offer: { toMemberId, toAgentId, note, expiresAt } },
      data: { toMemberId, toAgentId, note },
    }),
  };
});

/**
 * Reports whether the addressee, or the member who owns the addressed agent, may work in the project. Locks
 * the member against removal.
 */
const canContribute = async (
  db: Db,
  executionId: string,
  { toMemberId, toAgentId }: { toMemberId: string | null; toAgentId: string | null },
): Promise<boolean> =>
  (await db.find(
    sql`select m.id from executions e join projects p on p.org_id = e.org_id and p.id = e.project_id
       join members m on m.org_id = e.org_id and m.status = 'active'
         and m.id = coalesce(${toMemberId}::uuid, (select a.member_id from agents a where ${orgFilter('a')} and a.id = ${toAgentId}::uuid))
       where ${orgFilter('e')} and e.id = ${executionId}
         and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) >= 2
       for share of m`,
  )) !== undefined;
