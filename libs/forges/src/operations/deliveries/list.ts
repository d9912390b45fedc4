import { forgesRegistry } from '@muster/forges-registry';
import { handle } from '@muster/runtime';
import { getConnection } from '../../data/connections.ts';
import { listDeliveries } from '../../data/deliveries.ts';

export const list = handle(forgesRegistry.forges.deliveries.list, async ({ params, db }) => {
  const [page] = await Promise.all([listDeliveries(db, params), getConnection(db, params.connectionId)]);
  return page;
});
