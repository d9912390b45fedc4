import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listTeamsOfProject } from '../../../data/project-teams.ts';

export const list = handle(registry.projects.teams.list, ({ params, targetId, db }) =>
  listTeamsOfProject(db, targetId, params),
);
