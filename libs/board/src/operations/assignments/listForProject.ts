import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listAssignmentsOfProject } from '../../data/assignments.ts';

export const listForProject = handle(registry.assignments.listForProject, ({ params, targetId, db }) =>
  listAssignmentsOfProject(db, targetId, params),
);
