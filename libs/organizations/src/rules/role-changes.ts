/** Which role may give a member another role, and remove a member. The door has checked that the caller is an admin at least. */
import { type GivenRole, type OrgRole } from '@muster/registry';

/** Owners, admins and members hold a seat; viewers do not. */
export const holdsSeat = (role: OrgRole): boolean => role !== 'viewer';

export type RoleRuling = 'unchanged' | 'allowed' | 'needs_seat' | 'owner_required' | 'owner_only';

/** Whether a caller of role `by` may change a member from `from` to `to`, and why not. */
export function rulingOnRole(by: OrgRole, from: OrgRole, to: GivenRole): RoleRuling {
  if (from === 'owner') return 'owner_required';
  if (from === to) return 'unchanged';
  if ((from === 'admin' || to === 'admin') && by !== 'owner') return 'owner_only';
  return holdsSeat(to) && !holdsSeat(from) ? 'needs_seat' : 'allowed';
}

export type RemovalRuling = 'allowed' | 'owner_required' | 'owner_only';

/** Whether a caller of role `by` may remove a member of role `whom`, and why not. */
export function rulingOnRemoval(by: OrgRole, whom: OrgRole): RemovalRuling {
  if (whom === 'owner') return 'owner_required';
  return whom === 'admin' && by !== 'owner' ? 'owner_only' : 'allowed';
}
