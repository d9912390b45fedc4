/** Who may give which member which role, and remove whom. That the caller is an admin at least is the door's to see. */
import { type GivenRole, type OrgRole } from '@muster/registry';

/** Owners, admins and members hold a seat; viewers do not. */
export const holdsSeat = (role: OrgRole): boolean => role !== 'viewer';

export type RoleRuling = 'unchanged' | 'allowed' | 'needs_seat' | 'owner_required' | 'owner_only';

/** What becomes of the wish that `by` gives a member who is `from` the role `to`. */
export function rulingOnRole(by: OrgRole, from: OrgRole, to: GivenRole): RoleRuling {
  if (from === 'owner') return 'owner_required';
  if (from === to) return 'unchanged';
  if ((from === 'admin' || to === 'admin') && by !== 'owner') return 'owner_only';
  return holdsSeat(to) && !holdsSeat(from) ? 'needs_seat' : 'allowed';
}

export type RemovalRuling = 'allowed' | 'owner_required' | 'owner_only';

/** What becomes of the wish that `by` removes a member who is `whom`. */
export function rulingOnRemoval(by: OrgRole, whom: OrgRole): RemovalRuling {
  if (whom === 'owner') return 'owner_required';
  return whom === 'admin' && by !== 'owner' ? 'owner_only' : 'allowed';
}
