import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listAssignmentsOfProject } from '../../data/assignments.ts';

export const listForProject = handle(registry.assignments.listForProject, ({ params, db }) =>
  listAssignmentsOfProject(db, params.projectId, params),
);
