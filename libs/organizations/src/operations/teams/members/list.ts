import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { listTeamMembers } from '../../../data/team-members.ts';
import { teams } from '../../../data/teams.ts';

export const list = handle(organizationsRegistry.teams.members.list, async ({ params, db }) => {
  const [page] = await Promise.all([listTeamMembers(db, params), teams.get(db, params.teamId)]);
  return page;
});
