import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { teams, toTeam } from '../../data/teams.ts';

export const get = handle(registry.teams.get, async ({ params, db }) => ({
  team: toTeam(await teams.get(db, params.teamId)),
}));
