/** Whom a team takes for its lead. */
import { type OrgRole, type TeamRole } from '@muster/registry';

/** What is missing for a member of the organization to have that role in a team. */
export const unmetByTeamRole = (orgRole: OrgRole, role: TeamRole): string[] =>
  orgRole === 'viewer' && role === 'lead' ? ['viewers_hold_no_seat'] : [];
