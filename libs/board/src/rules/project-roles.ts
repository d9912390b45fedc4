/** What may be done about roles in a project. Which role counts is app.project_rank's to say. */
import { type OrgRole, projectRank, type ProjectRole } from '@muster/registry';

/**
 * What of the rules a role for this member does not meet: viewers of the organization hold no seat, and only ever
 * read. The database counts no more than that either, should they become viewers later.
 */
export const unmetByRole = (orgRole: OrgRole, role: ProjectRole): string[] =>
  orgRole === 'viewer' && role !== 'viewer' ? ['viewers_hold_no_seat'] : [];

export const higherRole = (one: ProjectRole, other: ProjectRole | undefined): ProjectRole =>
  other === undefined || projectRank(one) >= projectRank(other) ? one : other;

/** The leads of a project by itself or a team, of whom one or several are about to go. */
export interface Leads {
  readonly hasLead: boolean;
  readonly keepsLead: boolean;
}

/**
 * A private project that has a lead keeps one: a member who was given the role, or is in a team that was. Owners and
 * admins lead every project and do not count, or no private project would need a lead.
 */
export const losesItsLead = (visibility: 'org' | 'private', { hasLead, keepsLead }: Leads): boolean =>
  visibility === 'private' && hasLead && !keepsLead;
