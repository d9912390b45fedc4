import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { listGroups } from '../../data/groups.ts';

export const list = handle(deliveryRegistry.deliveryGroups.list, ({ params, targetId, db }) =>
  listGroups(db, { ...params, projectId: targetId }),
);
