/**
 * The rules for changing a member's role and removing a member. The authorization check already required at
 * least an admin.
 */
import { type GivenRole, type OrgRole } from '@muster/contract';

/** Returns whether the role needs a seat. All except viewers do. */
export const roleNeedsSeat = (role: OrgRole): boolean => role !== 'viewer';

export type RoleChangeDecision = 'unchanged' | 'allowed' | 'needs_seat' | 'owner_required' | 'owner_only';

/** Returns whether a caller of role `by` may change a member from `from` to `to`, or the reason why not. */
export function checkRoleChange(
  callerRole: OrgRole,
  currentRole: OrgRole,
  newRole: GivenRole,
): RoleChangeDecision {
  if (currentRole === 'owner') return 'owner_required';
  if (currentRole === newRole) return 'unchanged';
  if ((currentRole === 'admin' || newRole === 'admin') && callerRole !== 'owner') return 'owner_only';
  return roleNeedsSeat(newRole) && !roleNeedsSeat(currentRole) ? 'needs_seat' : 'allowed';
}

export type RemovalDecision = 'allowed' | 'owner_required' | 'owner_only';

/** Returns whether a caller of role `by` may remove a member of role `whom`, or the reason why not. */
export function checkMemberRemoval(callerRole: OrgRole, memberRole: OrgRole): RemovalDecision {
  if (memberRole === 'owner') return 'owner_required';
  return memberRole === 'admin' && callerRole !== 'owner' ? 'owner_only' : 'allowed';
}
