import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listAssignmentsOfOrg } from '../../data/assignments.ts';

export const listForOrg = handle(boardRegistry.assignments.listForOrg, ({ params, caller, db }) =>
  listAssignmentsOfOrg(db, caller, params),
);
