import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { toTeamEventSubject, deleteTeam, lockTeam } from '../../data/teams.ts';

// `delete` is a reserved word.
export const deleteOperation = handle(
  organizationsRegistry.teams.delete,
  async ({ params, caller, db, emit }) => {
    const team = await lockTeam(db, caller, params.teamId);
    db.deferToCommit(deleteTeam(team.id));
    emit('team.deleted', toTeamEventSubject(team), {});
    return { deleted: true as const };
  },
);
