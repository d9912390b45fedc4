import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listProjects } from '../../data/projects.ts';

export const list = handle(registry.projects.list, ({ params, caller, db }) =>
  listProjects(db, caller, params),
);
