import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listProjects } from '../../data/projects.ts';

export const list = handle(boardRegistry.projects.list, ({ params, caller, db }) =>
  listProjects(db, caller, params),
);
