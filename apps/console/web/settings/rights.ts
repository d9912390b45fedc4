/**
 * Determines which actions to offer to the reader. The API decides, and actions that it would refuse are
 * hidden.
 */
import { useIdentity } from '../data/context.ts';

export function useIsAdmin(): boolean {
  const { member, agent, token } = useIdentity();
  return (
    agent === null && (member.role === 'owner' || member.role === 'admin') && token.scopes.includes('admin')
  );
}

/**
 * Returns true if the reader may create projects. Viewers may not, and neither may tokens that are bound to
 * projects or only allow reading.
 */
export function useMayCreateProjects(): boolean {
  const { member, token } = useIdentity();
  return member.role !== 'viewer' && widestScope(token.scopes) !== 'read' && token.projectIds === null;
}

/** Returns true if the viewer may create agents and tokens for them. */
export function useMayConnectAgents(): boolean {
  const { member, agent, token } = useIdentity();
  return agent === null && member.role !== 'viewer' && widestScope(token.scopes) !== 'read';
}

/** Returns the widest scope of a token or a connection, which includes the narrower ones; `scim` is separate. */
export const widestScope = (scopes: readonly string[]): 'admin' | 'write' | 'read' | 'scim' =>
  (['admin', 'write', 'scim'] as const).find((one) => scopes.includes(one)) ?? 'read';
