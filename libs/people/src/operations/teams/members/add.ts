import { registry, type TeamMember } from '@muster/registry';
import { handle } from '@muster/runtime';
import { lockMember } from '../../../data/members.ts';
import { findTeamMember, insertTeamMember } from '../../../data/team-members.ts';
import { aboutTeam, lockTeam } from '../../../data/teams.ts';
import { requireTeamLead } from '../require-team-lead.ts';

export const add = handle(
  registry.teams.members.add,
  async ({ params, caller, db, access, emit, refuse }) => {
    const { teamId, memberId, role } = params;
    const { orgId } = caller;
    const [team, { at, orgRole }, member, present] = await Promise.all([
      lockTeam(db, caller, teamId),
      access(),
      lockMember(db, orgId, memberId),
      findTeamMember(db, orgId, teamId, memberId),
    ]);
    requireTeamLead(orgRole, team);
    if (present !== undefined) throw refuse('already_exists');

    const { name, handle } = member;
    const teamMember: TeamMember = { teamId, memberId, name, handle, role, addedAt: at };
    db.later(insertTeamMember(orgId, teamMember));
    emit('team.memberAdded', aboutTeam(team), { memberId, role });
    return { teamMember };
  },
);
