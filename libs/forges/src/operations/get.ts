import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getConnection, toConnection } from '../data/connections.ts';

export const get = handle(registry.forges.get, async ({ params, db }) => ({
  connection: toConnection(await getConnection(db, params.connectionId)),
}));
