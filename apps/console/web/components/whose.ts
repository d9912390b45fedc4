/** Who may have done something: members, and agents as far as whoever looks may know them. */
import { useQuery } from '@tanstack/react-query';
import { useClient } from '../data/context.ts';
import { agentsQuery, membersQuery } from '../data/people-queries.ts';

export interface Doer {
  readonly id: string;
  readonly name: string;
}

/** One who is chosen and is neither, such as who has left, is there by the name that is given. */
export function useDoers(chosen: string | undefined, nameOfChosen: string): readonly Doer[] {
  const client = useClient();
  const members = useQuery(membersQuery(client)).data ?? [];
  const agents = useQuery(agentsQuery(client)).data ?? [];
  const all = [...members, ...agents]
    .map(({ id, name }) => ({ id, name }))
    .toSorted((one, other) => one.name.localeCompare(other.name));
  const isKnown = chosen === undefined || all.some(({ id }) => id === chosen);
  return isKnown ? all : [{ id: chosen, name: nameOfChosen }, ...all];
}

/** The member or the agent, by whom trails are narrowed; undefined for the system. */
export const doerId = (actor: {
  readonly memberId: string | null;
  readonly agentId: string | null;
}): string | undefined => actor.agentId ?? actor.memberId ?? undefined;
