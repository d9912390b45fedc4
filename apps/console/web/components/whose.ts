/** Members and agents that the viewer may pick as an actor filter. */
import { useQuery } from '@tanstack/react-query';
import { useClient } from '../data/context.ts';
import { agentsQuery, membersQuery } from '../data/people-queries.ts';

export interface ActorOption {
  readonly id: string;
  readonly name: string;
}

/**
 * Lists the options by name. A chosen actor who is not among them, such as a former member, is added with the
 * given name.
 */
export function useActorOptions(chosenId: string | undefined, chosenName: string): readonly ActorOption[] {
  const client = useClient();
  const members = useQuery(membersQuery(client)).data ?? [];
  const agents = useQuery(agentsQuery(client)).data ?? [];
  const all = [...members, ...agents]
    .map(({ id, name }) => ({ id, name }))
    .toSorted((one, other) => one.name.localeCompare(other.name));
  const isKnown = chosenId === undefined || all.some(({ id }) => id === chosenId);
  return isKnown ? all : [{ id: chosenId, name: chosenName }, ...all];
}

/** Returns a function that finds the name of a member or agent by id; undefined for former ones. */
export function useActorNames(): (id: string) => string | undefined {
  const options = useActorOptions(undefined, '');
  return (id) => options.find((option) => option.id === id)?.name;
}

/** Returns the id by which activity is filtered: the agent's or the member's; undefined for the system. */
export const getActorOptionId = (actor: {
  readonly memberId: string | null;
  readonly agentId: string | null;
}): string | undefined => actor.agentId ?? actor.memberId ?? undefined;
