/**
 * Ensures that a caller who claims work stays a member until the claim is committed, and that its agent is
 * not retired.
 */
import { type Db, orgFilter, sql } from '@muster/driver';
import { unauthorized } from '@muster/contract';
import { type Caller } from '@muster/runtime';

/**
 * Locks the caller's membership before anything else, as a removal does, and the agent, as its retirement
 * does. A removal or retirement frees everything that the caller holds. A concurrent claim therefore either
 * commits before the removal, which then frees the claimed work, too, or fails.
 */
export async function lockClaimant(db: Db, caller: Caller): Promise<void> {
  if (!(await tryLockClaimant(db, caller))) throw unauthorized();
}

/**
 * Reports whether the member is active and the agent is not retired. Locks both rows, unless the condition
 * `where` is false.
 */
export async function tryLockClaimant(
  db: Db,
  { memberId, agentId }: Pick<Caller, 'memberId' | 'agentId'>,
  condition = alwaysTrueSql,
): Promise<boolean> {
  const [member, agent] = await Promise.all([
    db.find(
      sql`select id from members where ${orgFilter()} and id = ${memberId} and status = 'active' and ${condition}
      /*guard: a claimant stays a member*/for share/*end*/`,
    ),
    agentId === null ? true : tryLockActiveAgent(db, agentId, condition),
  ]);
  return member !== undefined && agent;
}

/** Reports whether the agent exists and is not retired. Locks it against retirement. */
export const tryLockActiveAgent = async (
  db: Db,
  agentId: string,
  condition = alwaysTrueSql,
): Promise<boolean> =>
  (await db.find(
    sql`select id from agents where ${orgFilter()} and id = ${agentId} and retired_at is null and ${condition}
      /*guard: an agent that claims is not retired*/for share/*end*/`,
  )) !== undefined;

const alwaysTrueSql = sql.part`true`;
