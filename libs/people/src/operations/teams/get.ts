import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getTeam } from '../../data/teams.ts';

export const get = handle(registry.teams.get, async ({ params, caller, db }) => ({
  team: await getTeam(db, caller.orgId, params.teamId),
}));
