import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { endConnection, lockConnection, toConnection } from '../../data/connections.ts';

export const revoke = handle(organizationsRegistry.connections.revoke, async ({ params, caller, db }) => {
  const connection = await lockConnection(db, caller, params.connectionId);
  // Ending a connection that has already ended changes nothing, because two people may try it at the same
  // time.
  if (connection.revoked_at !== null) return { connection: toConnection(connection) };
  return { connection: toConnection({ ...connection, ...(await endConnection(db, connection)) }) };
});
