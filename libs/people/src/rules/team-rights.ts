/** Who may change a team and who is in it: admins of the organization, and the team's own leads. */
import { orgRank, type OrgRole, type TeamRole } from '@muster/registry';

export const mayChangeTeam = (orgRole: OrgRole, teamRole: TeamRole | null): boolean =>
  teamRole === 'lead' || orgRank(orgRole) >= orgRank('admin');
