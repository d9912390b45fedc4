import { forgesRegistry } from '@muster/forges-registry';
import { handle } from '@muster/runtime';
import { getConnection, toConnection } from '../data/connections.ts';

export const get = handle(forgesRegistry.forges.get, async ({ params, db }) => ({
  connection: toConnection(await getConnection(db, params.connectionId)),
}));
