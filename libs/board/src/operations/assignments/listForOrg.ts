import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listAssignmentsOfOrg } from '../../data/assignments.ts';

export const listForOrg = handle(registry.assignments.listForOrg, ({ params, caller, db }) =>
  listAssignmentsOfOrg(db, caller, params),
);
