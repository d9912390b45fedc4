/** The requirements for roles in a team. */
import { type OrgRole, type TeamRole } from '@muster/contract';

/** Returns the unmet requirements for a member of the organization to have this role in a team. */
export const findRulesViolatedByTeamRole = (orgRole: OrgRole, role: TeamRole): string[] =>
  orgRole === 'viewer' && role === 'lead' ? ['viewers_hold_no_seat'] : [];
