/** What whoever looks may do here: the API decides, and what it would refuse is not offered. */
import { useIdentity } from '../data/context.ts';

export function useIsAdmin(): boolean {
  const { member, agent, token } = useIdentity();
  return (
    agent === null && (member.role === 'owner' || member.role === 'admin') && token.scopes.includes('admin')
  );
}
