/** What whoever looks may do here: the API decides, and what it would refuse is not offered. */
import { useIdentity } from '../data/context.ts';

export function useIsAdmin(): boolean {
  const { member, agent, token } = useIdentity();
  return (
    agent === null && (member.role === 'owner' || member.role === 'admin') && token.scopes.includes('admin')
  );
}

/** Members of the organization make projects; a token that is bound to some makes no others. */
export function useMayMakeProjects(): boolean {
  const { member, token } = useIdentity();
  return member.role !== 'viewer' && widestOf(token.scopes) !== 'read' && token.projectIds === null;
}

/** Of what a token or a connection may, the widest, which has the others in it. */
export const widestOf = (scopes: readonly string[]): 'admin' | 'write' | 'read' =>
  (['admin', 'write'] as const).find((one) => scopes.includes(one)) ?? 'read';
