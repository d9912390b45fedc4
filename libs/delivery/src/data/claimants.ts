/** A caller who claims work is a member until it has it, and one that is an agent is not retired. */
import { type Db, of, sql } from '@muster/driver';
import { unauthorized } from '@muster/registry';
import { type Caller } from '@muster/runtime';

/**
 * Locks the caller's membership before anything else, as a removal does, and the agent, as its retirement does. Those free
 * what is held then: what is claimed at the same moment is seen by them, or is not claimed.
 */
export async function lockClaimant(db: Db, caller: Caller): Promise<void> {
  if (!(await isClaimant(db, caller))) throw unauthorized();
}

/** Whether the member is one still, and the agent is not retired; both are locked, unless it is not to be asked at all. */
export async function isClaimant(
  db: Db,
  { memberId, agentId }: Pick<Caller, 'memberId' | 'agentId'>,
  where = always,
): Promise<boolean> {
  const [member, agent] = await Promise.all([
    db.find(
      sql`select id from members where ${of()} and id = ${memberId} and status = 'active' and ${where}
      /*guard: a claimant stays a member*/for share/*end*/`,
    ),
    agentId === null ? true : isActing(db, agentId, where),
  ]);
  return member !== undefined && agent;
}

/** Whether there is such an agent that is not retired; locked, against its retirement. */
export const isActing = async (db: Db, agentId: string, where = always): Promise<boolean> =>
  (await db.find(
    sql`select id from agents where ${of()} and id = ${agentId} and retired_at is null and ${where}
      /*guard: an agent that claims is not retired*/for share/*end*/`,
  )) !== undefined;

const always = sql.part`true`;
