import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listTeamsOfProject } from '../../../data/project-teams.ts';

export const list = handle(boardRegistry.projects.teams.list, ({ params, targetId, db }) =>
  listTeamsOfProject(db, targetId, params),
);
