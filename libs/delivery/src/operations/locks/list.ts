import { registry } from '@muster/registry';
import { badRequest, handle } from '@muster/runtime';
import { listLocks, type LockRow } from '../../data/locks.ts';
import { Effort, TooIntricate } from '../../rules/glob-intersection.ts';
import { mostSteps } from '../../rules/lock-limits.ts';
import { normalizeResource, problemOf, resourceOf, touches } from '../../rules/lock-resources.ts';

export const list = handle(registry.locks.list, async ({ params, targetId, caller, db }) => {
  const { resource, mine, limit, cursor } = params;
  const page = { projectId: targetId, mine, limit, cursor };
  if (resource === undefined) return listLocks(db, caller, page, null);
  const normalized = normalizeResource(resource);
  const problem = problemOf(normalized);
  if (problem !== undefined) throw unfit(problem);

  const wanted = [resourceOf(normalized)];
  const effort = new Effort(mostSteps);
  const touchesIt = (row: LockRow): boolean =>
    touches(wanted, row.resources.map(resourceOf), effort, 1).length > 0;
  return listLocks(db, caller, page, touchesIt).catch((error: unknown) => {
    throw error instanceof TooIntricate ? unfit(error.message) : error;
  });
});

const unfit = (message: string) => badRequest('The resource is not valid.', [{ path: 'resource', message }]);
