/**
 * The rules for changing a member's role and removing a member. The authorization check already required at
 * least an admin.
 */
import { type GivenRole, type OrgRole } from '@muster/registry';

/** Answers whether the role needs a seat. All except viewers do. */
export const holdsSeat = (role: OrgRole): boolean => role !== 'viewer';

export type RoleRuling = 'unchanged' | 'allowed' | 'needs_seat' | 'owner_required' | 'owner_only';

/** Answers whether a caller of role `by` may change a member from `from` to `to`, or the reason why not. */
export function rulingOnRole(by: OrgRole, from: OrgRole, to: GivenRole): RoleRuling {
  if (from === 'owner') return 'owner_required';
  if (from === to) return 'unchanged';
  if ((from === 'admin' || to === 'admin') && by !== 'owner') return 'owner_only';
  return holdsSeat(to) && !holdsSeat(from) ? 'needs_seat' : 'allowed';
}

export type RemovalRuling = 'allowed' | 'owner_required' | 'owner_only';

/** Answers whether a caller of role `by` may remove a member of role `whom`, or the reason why not. */
export function rulingOnRemoval(by: OrgRole, whom: OrgRole): RemovalRuling {
  if (whom === 'owner') return 'owner_required';
  return whom === 'admin' && by !== 'owner' ? 'owner_only' : 'allowed';
}
