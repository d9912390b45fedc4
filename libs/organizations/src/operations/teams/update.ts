import { registry } from '@muster/registry';
import { changedFields, cleared, handle } from '@muster/runtime';
import { aboutTeam, lockTeam, setTeam, toTeam } from '../../data/teams.ts';

export const update = handle(
  registry.teams.update,
  async ({ params, caller, db, access, requireGround, emit, refuse }) => {
    const { teamId, expectedVersion, ...given } = params;
    const wanted = { ...given, description: cleared(given.description, '') };
    const [team, { at }] = await Promise.all([lockTeam(db, caller, teamId), access()]);
    await requireGround(team.caller_role === 'lead' && 'teamLead');
    if (expectedVersion !== undefined && expectedVersion !== team.version) {
      throw refuse('version_mismatch', { currentVersion: team.version });
    }
    const { name, description } = team;
    const fields = changedFields({ name, description }, wanted);
    if (fields.length === 0) return { team: toTeam(team) };

    const changed = {
      ...team,
      name: wanted.name ?? name,
      description: wanted.description ?? description,
      updated_at: at,
      version: team.version + 1,
    };
    db.later(setTeam(changed));
    emit('team.updated', aboutTeam(changed), { fields });
    return { team: toTeam(changed) };
  },
);
