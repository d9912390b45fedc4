import { forgesRegistry } from '@muster/forges-registry';
import { handle } from '@muster/runtime';
import { connectionSubject, connections, lockConnection } from '../data/connections.ts';
import { clearedCredentials } from './set-up.ts';

export const disconnect = handle(forgesRegistry.forges.disconnect, async ({ params, db, access, emit }) => {
  const [{ at }, connection] = await Promise.all([access(), lockConnection(db, params.connectionId)]);
  // The credentials are deleted immediately, and the deliveries at the end of their retention period.
  connections.save(db, connection, { deleted_at: at, ...clearedCredentials }, at);
  emit('forge.disconnected', connectionSubject(connection), {});
  return { deleted: true as const };
});
