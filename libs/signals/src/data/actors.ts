/** Entries of the streams by who did it. */
import { type Values } from '@muster/database';

/** SQL for the streams of a member, with what their agents did, and of one agent: an id is either's. */
export function ofActor(values: Values, actorId: string): string[] {
  const id = values.uuid(actorId);
  return [`e.member_id = ${id}`, `e.agent_id = ${id}`];
}
