import { registry } from '@muster/registry';
import { handle, named } from '@muster/runtime';
import { lockMember } from '../../../data/members.ts';
import { getTeamMember, setTeamMember } from '../../../data/team-members.ts';
import { aboutTeam, lockTeam } from '../../../data/teams.ts';
import { unmetByTeamRole } from '../../../rules/team-roles.ts';

export const setRole = handle(
  registry.teams.members.setRole,
  async ({ params, caller, db, requireGround, emit, refuse }) => {
    const { teamId, memberId, role } = params;
    const [team, member, present] = await Promise.all([
      named('teamId', lockTeam(db, caller, teamId)),
      named('memberId', lockMember(db, memberId)),
      named('memberId', getTeamMember(db, teamId, memberId)),
    ]);
    await requireGround(team.caller_role === 'lead' && 'teamLead');
    const unmet = unmetByTeamRole(member.role, role);
    if (unmet.length > 0) throw refuse('policy', { unmet });
    const teamMember = { ...present, role };
    if (present.role !== role) {
      db.later(setTeamMember(teamMember));
      emit('team.memberRoleChanged', aboutTeam(team), { memberId, role });
    }
    return { teamMember };
  },
);
