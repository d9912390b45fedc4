import { deliveryRegistry } from '@muster/delivery-registry';
import { canonicalPullUrlOf, handle, requireProject } from '@muster/runtime';
import { listExecutions } from '../../data/execution-lists.ts';
import { matchRepositories } from '../../data/work-repositories.ts';

export const list = handle(deliveryRegistry.deliveryExecutions.list, async ({ params, caller, db }) => {
  const { pullRequest, repository } = params;
  const isUrl = typeof pullRequest === 'string' && Number.isNaN(Number(pullRequest));
  const url = isUrl ? ((await canonicalPullUrlOf(db, pullRequest, null)) ?? pullRequest) : pullRequest;
  const [page] = await Promise.all([
    listExecutions(db, caller, { ...params, pullRequest: url }),
    params.projectId === undefined ? undefined : requireProject(db, caller, params.projectId),
  ]);
  if (repository === undefined) return page;
  const ids = page.items.map(({ id }) => id);
  const matches = await matchRepositories(db, ids, repository);
  return { ...page, items: page.items.filter(({ id }) => matches.get(id) === 'same') };
});
