import { registry } from '@muster/registry';
import { handle, requireStory } from '@muster/runtime';
import { listContracts } from '../../data/contracts.ts';

export const list = handle(registry.contracts.list, async ({ params, targetId, caller, db }) => {
  const [page] = await Promise.all([
    listContracts(db, targetId, params),
    params.storyId === undefined ? undefined : requireStory(db, caller, params.storyId),
  ]);
  return page;
});
