import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listGroups } from '../../data/groups.ts';

export const list = handle(registry.deliveryGroups.list, ({ params, targetId, db }) =>
  listGroups(db, { ...params, projectId: targetId }),
);
