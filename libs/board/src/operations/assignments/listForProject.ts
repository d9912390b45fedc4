import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listAssignmentsOfProject } from '../../data/assignments.ts';

export const listForProject = handle(boardRegistry.assignments.listForProject, ({ params, targetId, db }) =>
  listAssignmentsOfProject(db, targetId, params),
);
