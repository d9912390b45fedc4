import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getTeam } from '../../data/teams.ts';

export const get = handle(registry.teams.get, async ({ params, db }) => ({
  team: await getTeam(db, params.teamId),
}));
