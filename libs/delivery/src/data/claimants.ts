/** A caller who claims work is a member until it has it, and one that is an agent is not retired. */
import { type Db, of, sql } from '@muster/database';
import { unauthorized } from '@muster/registry';
import { type Caller } from '@muster/runtime';

/**
 * Locks the caller's membership before anything else, as a removal does, and the agent, as its retirement does. Those free
 * what is held then: what is claimed at the same moment is seen by them, or is not claimed.
 */
export async function lockClaimant(db: Db, { memberId, agentId }: Caller): Promise<void> {
  const [member, agent] = await Promise.all([
    db.find(
      sql`select id from members where ${of()} and id = ${memberId} and status = 'active'
      /*guard: a claimant stays a member*/for share/*end*/`,
    ),
    agentId === null ? true : isActing(db, agentId),
  ]);
  if (member === undefined || !agent) throw unauthorized();
}

/** Whether there is such an agent that is not retired; locked, against its retirement. */
export const isActing = async (db: Db, agentId: string): Promise<boolean> =>
  (await db.find(
    sql`select id from agents where ${of()} and id = ${agentId} and retired_at is null
      /*guard: an agent that claims is not retired*/for share/*end*/`,
  )) !== undefined;
