/** Entries of the streams by who did it. */
import { type Part, sql } from '@muster/driver';

/** SQL for the streams of a member, with what their agents did, and of one agent: an id is either's. */
export function ofActor(actorId: string): Part[] {
  const id = sql.part`${actorId}::uuid`;
  return [sql.part`e.member_id = ${id}`, sql.part`e.agent_id = ${id}`];
}
