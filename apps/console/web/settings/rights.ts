/** What whoever looks may do here: the API decides, and what it would refuse is not offered. */
import { useIdentity } from '../data/context.ts';

export function useIsAdmin(): boolean {
  const { member, agent, token } = useIdentity();
  return (
    agent === null && (member.role === 'owner' || member.role === 'admin') && token.scopes.includes('admin')
  );
}

/** Of what a token or a connection may, the widest, which has the others in it. */
export const widestOf = (scopes: readonly string[]): 'admin' | 'write' | 'read' =>
  (['admin', 'write'] as const).find((one) => scopes.includes(one)) ?? 'read';
