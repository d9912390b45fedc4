/** SQL conditions on the actor of an activity or audit entry. */
import { type Part, sql } from '@muster/driver';

/**
 * Returns SQL conditions for the streams of a member, including their agents, and of an agent. The id may
 * belong to either.
 */
export function actorConditions(actorId: string): Part[] {
  const id = sql.part`${actorId}::uuid`;
  return [sql.part`e.member_id = ${id}`, sql.part`e.agent_id = ${id}`];
}
