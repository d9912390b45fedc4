/** Writes the audit entry of a sensitive operation that was forbidden, in a transaction of its own. */
import { type Pool } from '@muster/driver';
import { type ApiError, type Operation } from '@muster/registry';
import { inOrganization, trail, type Visit } from '@muster/tenancy';
import { auditFacts } from './audit-facts.ts';
import { type OperationCall } from './execute.ts';
import { type Caller } from './handle.ts';

export async function auditRefusal(
  pool: Pool,
  operation: Operation,
  caller: Caller,
  call: OperationCall,
  refused: ApiError,
): Promise<void> {
  const visit: Visit = {
    effect: 'write',
    tokenHash: call.token.identity.tokenHash,
    orgId: caller.orgId,
    rights: null,
    orgRank: 1,
    target: null,
    claim: null,
  };
  const { reason } = refused.details;
  await inOrganization(pool, visit, async (session) => {
    session.later(trail(caller.actor, auditFacts(operation, call), { allowed: false, reason }));
  });
}
