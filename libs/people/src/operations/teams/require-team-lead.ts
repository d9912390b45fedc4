import { type OrgRole } from '@muster/registry';
import { forbidden } from '@muster/runtime';
import { type LockedTeam } from '../../data/teams.ts';
import { mayChangeTeam } from '../../rules/team-rights.ts';

/** Refuses whoever is neither an admin nor a lead of the team. */
export function requireTeamLead(orgRole: OrgRole, team: LockedTeam): void {
  if (!mayChangeTeam(orgRole, team.caller_role)) {
    throw forbidden('role', 'Only admins and the leads of the team may change it.');
  }
}
