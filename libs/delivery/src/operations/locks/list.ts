import { deliveryRegistry } from '@muster/delivery-registry';
import { normalizeResource, problemOfResource } from '@muster/contract/globs';
import { badRequest, handle } from '@muster/runtime';
import { listLocks, type LockRow } from '../../data/locks.ts';
import { StepBudget, PatternsTooComplex } from '../../rules/glob-intersection.ts';
import { maxCompareSteps } from '../../rules/lock-limits.ts';
import { parseResource, findOverlaps } from '../../rules/lock-resources.ts';

export const list = handle(deliveryRegistry.locks.list, async ({ params, targetId, caller, db }) => {
  const { resource, mine, limit, cursor } = params;
  const page = { projectId: targetId, mine, limit, cursor };
  if (resource === undefined) return listLocks(db, caller, page, null);
  const normalized = normalizeResource(resource);
  const problem = problemOfResource(normalized);
  if (problem !== undefined) throw invalidResourceError(problem);

  const wanted = [parseResource(normalized)];
  const effort = new StepBudget(maxCompareSteps);
  const touchesIt = (row: LockRow): boolean =>
    findOverlaps(wanted, row.resources.map(parseResource), effort, 1).length > 0;
  return listLocks(db, caller, page, touchesIt).catch((error: unknown) => {
    throw error instanceof PatternsTooComplex ? invalidResourceError(error.message) : error;
  });
});

const invalidResourceError = (message: string) =>
  badRequest('The resource is not valid.', [{ path: 'resource', message }]);
