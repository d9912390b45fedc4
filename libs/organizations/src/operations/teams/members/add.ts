import { type TeamMember } from '@muster/contract';
import { organizationsRegistry } from '@muster/organizations-registry';
import { handle, withPathOnNotFound } from '@muster/runtime';
import { lockMember } from '../../../data/members.ts';
import { findTeamMember, insertTeamMember } from '../../../data/team-members.ts';
import { toTeamEventSubject, lockTeam } from '../../../data/teams.ts';
import { findRulesViolatedByTeamRole } from '../../../rules/team-roles.ts';

export const add = handle(
  organizationsRegistry.teams.members.add,
  async ({ params, caller, db, access, requireGround, emit, refuse }) => {
    const { teamId, memberId, role } = params;
    const [team, { at }, member, present] = await Promise.all([
      withPathOnNotFound('teamId', lockTeam(db, caller, teamId)),
      access(),
      withPathOnNotFound('memberId', lockMember(db, memberId)),
      findTeamMember(db, teamId, memberId),
    ]);
    await requireGround(team.caller_role === 'lead' && 'teamLead');
    if (present !== undefined) throw refuse('already_exists');
    const unmet = findRulesViolatedByTeamRole(member.role, role);
    if (unmet.length > 0) throw refuse('policy', { unmet });

    const { name, handle } = member;
    const teamMember: TeamMember = { teamId, memberId, name, handle, role, addedAt: at };
    db.deferToCommit(insertTeamMember(teamMember));
    emit('team.memberAdded', toTeamEventSubject(team), { memberId, role });
    return { teamMember };
  },
);
