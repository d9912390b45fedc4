import { requireVersion } from '@muster/driver';
import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { toTeamEventSubject, lockTeam, teams, toTeam } from '../../data/teams.ts';

export const update = handle(
  organizationsRegistry.teams.update,
  async ({ params, caller, db, access, requireGround, emit }) => {
    const { teamId, expectedVersion, ...wanted } = params;
    const [team, { at }] = await Promise.all([lockTeam(db, caller, teamId), access()]);
    await requireGround(team.caller_role === 'lead' && 'teamLead');
    requireVersion(team, expectedVersion);
    const { changed, fields } = teams.change(db, team, wanted, at);
    if (fields.length > 0) emit('team.updated', toTeamEventSubject(changed), { fields });
    return { team: toTeam(changed) };
  },
);
