/** Writes the audit entry of a sensitive operation that was forbidden, in a transaction of its own. */
import { type Pool } from '@muster/driver';
import { type ApiError, type Operation } from '@muster/contract';
import { inOrganization, trailStatement, type AccessCheckInput } from '@muster/tenancy';
import { buildAuditFacts } from './audit-facts.ts';
import { type Caller } from './handle.ts';
import { type OperationCall } from './operation-call.ts';

export async function auditRefusal(
  pool: Pool,
  operation: Operation,
  caller: Caller,
  call: OperationCall,
  refusal: ApiError,
): Promise<void> {
  const visit: AccessCheckInput = {
    effect: 'write',
    tokenHash: call.token.identity.tokenHash,
    orgId: caller.orgId,
    cachedRights: null,
    requiredOrgRank: 1,
    target: null,
    claim: null,
  };
  const { reason } = refusal.details;
  await inOrganization(pool, visit, async (session) => {
    session.deferToCommit(
      trailStatement(caller.actor, buildAuditFacts(operation, call), { allowed: false, reason }),
    );
  });
}
