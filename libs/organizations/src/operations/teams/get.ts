import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { teams, toTeam } from '../../data/teams.ts';

export const get = handle(organizationsRegistry.teams.get, async ({ params, db }) => ({
  team: toTeam(await teams.get(db, params.teamId)),
}));
