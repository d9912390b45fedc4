import { organizationsRegistry } from '@muster/organizations-registry';
import { handle, withPathOnNotFound } from '@muster/runtime';
import { lockMember } from '../../../data/members.ts';
import { getTeamMember, updateTeamMemberRole } from '../../../data/team-members.ts';
import { toTeamEventSubject, lockTeam } from '../../../data/teams.ts';
import { findRulesViolatedByTeamRole } from '../../../rules/team-roles.ts';

export const setRole = handle(
  organizationsRegistry.teams.members.setRole,
  async ({ params, caller, db, requireGround, emit, refuse }) => {
    const { teamId, memberId, role } = params;
    const [team, member, present] = await Promise.all([
      withPathOnNotFound('teamId', lockTeam(db, caller, teamId)),
      withPathOnNotFound('memberId', lockMember(db, memberId)),
      withPathOnNotFound('memberId', getTeamMember(db, teamId, memberId)),
    ]);
    await requireGround(team.caller_role === 'lead' && 'teamLead');
    const unmet = findRulesViolatedByTeamRole(member.role, role);
    if (unmet.length > 0) throw refuse('policy', { unmet });
    const teamMember = { ...present, role };
    if (present.role !== role) {
      db.deferToCommit(updateTeamMemberRole(teamMember));
      emit('team.memberRoleChanged', toTeamEventSubject(team), { memberId, role });
    }
    return { teamMember };
  },
);
