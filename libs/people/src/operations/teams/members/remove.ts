import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { deleteTeamMember, getTeamMember } from '../../../data/team-members.ts';
import { aboutTeam, lockTeam } from '../../../data/teams.ts';
import { requireTeamLead } from '../require-team-lead.ts';

export const remove = handle(registry.teams.members.remove, async ({ params, caller, db, access, emit }) => {
  const { teamId, memberId } = params;
  const { orgId } = caller;
  const [team, { orgRole }, present] = await Promise.all([
    lockTeam(db, caller, teamId),
    access(),
    getTeamMember(db, orgId, teamId, memberId),
  ]);
  requireTeamLead(orgRole, team);
  db.later(deleteTeamMember(orgId, present));
  emit('team.memberRemoved', aboutTeam(team), { memberId });
  return { deleted: true as const };
});
