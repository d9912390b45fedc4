/**
 * The rules for granting and removing roles in a project. The SQL function app.project_rank decides the
 * effective role.
 */
import { type OrgRole, projectRank, type ProjectRole } from '@muster/contract';

/**
 * Lists the rules that a role violates. Viewers of the organization hold no seat and can only read. The
 * database also limits members who become viewers later.
 */
export const findRulesViolatedByRole = (orgRole: OrgRole, role: ProjectRole): string[] =>
  orgRole === 'viewer' && role !== 'viewer' ? ['viewers_hold_no_seat'] : [];

export const pickHigherRole = (role: ProjectRole, otherRole: ProjectRole | undefined): ProjectRole =>
  otherRole === undefined || projectRank(role) >= projectRank(otherRole) ? role : otherRole;

/** The leads of a project, directly or through a team, before and after some of them leave. */
export interface LeadStatus {
  readonly hasLead: boolean;
  readonly keepsLead: boolean;
}

/**
 * Reports whether a private project would lose its last lead. Only members with the role and members of teams
 * with it count. Owners and admins lead every project; if they counted, no private project would need a lead.
 */
export const wouldLoseLastLead = (
  visibility: 'org' | 'private',
  { hasLead, keepsLead }: LeadStatus,
): boolean => visibility === 'private' && hasLead && !keepsLead;
