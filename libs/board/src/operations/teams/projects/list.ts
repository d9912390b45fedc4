import { boardRegistry } from '@muster/board-registry';
import { handle, requireTeam } from '@muster/runtime';
import { listProjectsOfTeam } from '../../../data/project-teams.ts';

export const list = handle(boardRegistry.teams.projects.list, async ({ params, caller, db }) => {
  const [page] = await Promise.all([listProjectsOfTeam(db, caller, params), requireTeam(db, params.teamId)]);
  return page;
});
