/** Context of all components: the session with its API client, the event stream and the boards. */
import { createContext, useContext, useMemo, useSyncExternalStore } from 'react';
import { type Actor } from '@muster/contract';
import { type Boards } from './boards.ts';
import { type LiveConnection, type StreamConnection } from './live.ts';
import { useOfflineSince } from './online.ts';
import { type ConsoleSession } from './session.ts';

export interface ConsoleContextValue {
  readonly session: ConsoleSession;
  readonly liveConnection: LiveConnection;
  readonly boards: Boards;
  readonly signOut: () => void;
}

export const ConsoleContext = createContext<ConsoleContextValue | null>(null);

export function useConsole(): ConsoleContextValue {
  const value = useContext(ConsoleContext);
  if (value === null) throw new Error('outside of a session');
  return value;
}

export const useClient = () => useConsole().session.client;
export const useIdentity = () => useConsole().session.identity;

/** Returns true if the viewer is this author. An agent is not the author of what its member wrote. */
export function useIsAuthor({ memberId, agentId }: Actor): boolean {
  const { member, agent } = useIdentity();
  return memberId === member.id && agentId === (agent?.id ?? null);
}

export function useStreamConnection(): StreamConnection {
  const { liveConnection } = useConsole();
  const wire = useSyncExternalStore(liveConnection.subscribe, liveConnection.connection);
  const since = useOfflineSince();
  // A broken event stream is noticed late, because it only stops sending. The browser reports a lost network
  // connection earlier.
  return useMemo(
    () => (since === null || wire.state === 'lost' ? wire : { state: 'lost', since }),
    [wire, since],
  );
}
