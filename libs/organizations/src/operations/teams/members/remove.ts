import { organizationsRegistry } from '@muster/organizations-registry';
import { handle, withPathOnNotFound } from '@muster/runtime';
import { deleteTeamMember, getTeamMember } from '../../../data/team-members.ts';
import { toTeamEventSubject, lockTeam } from '../../../data/teams.ts';

export const remove = handle(
  organizationsRegistry.teams.members.remove,
  async ({ params, caller, db, requireGround, emit }) => {
    const { teamId, memberId } = params;
    const [team, present] = await Promise.all([
      withPathOnNotFound('teamId', lockTeam(db, caller, teamId)),
      withPathOnNotFound('memberId', getTeamMember(db, teamId, memberId)),
    ]);
    await requireGround(team.caller_role === 'lead' && 'teamLead');
    db.deferToCommit(deleteTeamMember(present));
    emit('team.memberRemoved', toTeamEventSubject(team), { memberId });
    return { deleted: true as const };
  },
);
