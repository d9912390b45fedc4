import { type Db, sqlQuery } from '@muster/database';
import { registry } from '@muster/registry';
import { handle, notFound } from '@muster/runtime';
import { later } from '../../data/leases.ts';
import { aboutTarget } from '../../data/targets.ts';
import { asHolder } from './as-holder.ts';
import { letGo } from './let-go.ts';

export const handoff = handle(registry.deliveryExecutions.handoff, async (context) => {
  const { params, caller, db, emit, refuse } = context;
  const { executionId, leaseToken, offerTtlSeconds } = params;
  const toMemberId = params.toMemberId ?? null;
  const toAgentId = params.toAgentId ?? null;
  // Said again to somebody else it is another call.
  const call = `handoff to ${toMemberId ?? toAgentId ?? ''}`;
  const [grip, isThere] = await Promise.all([
    asHolder(context, { executionId, leaseToken }, call),
    canContribute(db, caller.orgId, executionId, { toMemberId, toAgentId }),
  ]);
  if (grip.kind === 'repeated') return { execution: grip.execution };
  if (!isThere) throw notFound();
  if (grip.execution.checkpoint === null) throw refuse('checkpoint_required');

  const note = params.note ?? null;
  emit('execution.offered', aboutTarget(grip.target), { executionId, toMemberId, toAgentId });
  return {
    execution: letGo(context, grip, call, {
      changes: {
        state: 'offered',
        waiting_for: null,
        offer: { toMemberId, toAgentId, note, expiresAt: later(grip.now, offerTtlSeconds) },
      },
      deed: { kind: 'offered', data: { toMemberId, toAgentId, note } },
      freesLocks: false,
    }),
  };
});

/** Whether the addressee, or the member whose agent it is, may work in the project. */
const canContribute = async (
  db: Db,
  orgId: string,
  executionId: string,
  { toMemberId, toAgentId }: { toMemberId: string | null; toAgentId: string | null },
): Promise<boolean> =>
  (await db.find(
    sqlQuery(
      `select m.id from executions e join projects p on p.org_id = e.org_id and p.id = e.project_id
       join members m on m.org_id = e.org_id and m.status = 'active'
         and m.id = coalesce($3::uuid, (select a.member_id from agents a where a.org_id = $1 and a.id = $4::uuid))
       where e.org_id = $1 and e.id = $2
         and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) >= 2`,
      [orgId, executionId, toMemberId, toAgentId],
    ),
  )) !== undefined;
