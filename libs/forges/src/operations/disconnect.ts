import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutConnection, connections, lockConnection } from '../data/connections.ts';
import { noCredentials } from './set-up.ts';

export const disconnect = handle(registry.forges.disconnect, async ({ params, db, access, emit }) => {
  const [{ at }, connection] = await Promise.all([access(), lockConnection(db, params.connectionId)]);
  // The credentials are deleted immediately, and the deliveries at the end of their retention period.
  connections.save(db, connection, { deleted_at: at, ...noCredentials }, at);
  emit('forge.disconnected', aboutConnection(connection), {});
  return { deleted: true as const };
});
