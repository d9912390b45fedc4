import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getTeamMember, setTeamMember } from '../../../data/team-members.ts';
import { aboutTeam, lockTeam } from '../../../data/teams.ts';
import { requireTeamLead } from '../require-team-lead.ts';

export const setRole = handle(
  registry.teams.members.setRole,
  async ({ params, caller, db, access, emit }) => {
    const { teamId, memberId, role } = params;
    const { orgId } = caller;
    const [team, { orgRole }, present] = await Promise.all([
      lockTeam(db, caller, teamId),
      access(),
      getTeamMember(db, orgId, teamId, memberId),
    ]);
    requireTeamLead(orgRole, team);
    const teamMember = { ...present, role };
    if (present.role !== role) {
      db.later(setTeamMember(orgId, teamMember));
      emit('team.memberRoleChanged', aboutTeam(team), { memberId, role });
    }
    return { teamMember };
  },
);
