import { sqlQuery } from '@muster/database';
import { type registry, type ResultOf } from '@muster/registry';
import { type HandlerContext } from '@muster/runtime';
import { hashLeaseToken, newLeaseToken } from '../../rules/lease-tokens.ts';

type Acquire = typeof registry.deliveryExecutions.acquire;

/**
 * The answer to a repeated acquire: a fresh token of the same epoch, since the first one was never stored. Where another
 * has the lease by now, the token is of no use, as the first one would be.
 */
export async function reissueToken(
  { caller, db }: HandlerContext<Acquire>,
  kept: ResultOf<Acquire>,
): Promise<ResultOf<Acquire>> {
  const { execution } = kept;
  const epoch = execution.lease?.epoch ?? 0;
  const leaseToken = newLeaseToken(epoch);
  await db.all(
    sqlQuery(
      `update leases set token_hash = $5
       where org_id = $1 and unit_type = $2 and unit_id = $3 and state = 'held' and epoch = $4
         and member_id = $6 and agent_id is not distinct from $7`,
      [
        caller.orgId,
        execution.targetType,
        execution.targetId,
        epoch,
        hashLeaseToken(leaseToken),
        caller.memberId,
        caller.agentId,
      ],
    ),
  );
  return { ...kept, leaseToken };
}
