import { registry } from '@muster/registry';
import { handle, named } from '@muster/runtime';
import { deleteTeamMember, getTeamMember } from '../../../data/team-members.ts';
import { aboutTeam, lockTeam } from '../../../data/teams.ts';

export const remove = handle(
  registry.teams.members.remove,
  async ({ params, caller, db, requireGround, emit }) => {
    const { teamId, memberId } = params;
    const [team, present] = await Promise.all([
      named('teamId', lockTeam(db, caller, teamId)),
      named('memberId', getTeamMember(db, teamId, memberId)),
    ]);
    await requireGround(team.caller_role === 'lead' && 'teamLead');
    db.later(deleteTeamMember(present));
    emit('team.memberRemoved', aboutTeam(team), { memberId });
    return { deleted: true as const };
  },
);
