import { newId } from '@muster/database';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutTeam, insertTeam, type TeamRow, toTeam } from '../../data/teams.ts';

export const create = handle(registry.teams.create, async ({ params, db, access, emit }) => {
  const { at } = await access();
  const team: TeamRow = {
    id: newId(),
    name: params.name,
    description: params.description ?? '',
    created_at: at,
    updated_at: at,
    version: 1,
  };
  db.later(insertTeam(team));
  emit('team.created', aboutTeam(team), {});
  return { team: toTeam(team) };
});
