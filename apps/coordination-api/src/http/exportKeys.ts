/** Publishes the keys that sign exports, so that archives can be verified without an account. */
import { loadPublishedExportKeys } from '@muster/attachments';
import { type Pool } from '@muster/driver';
import { exportKeysPath } from '@muster/contract';
import { type FastifyInstance } from 'fastify';

export function addExportKeysRoute(app: FastifyInstance, pool: Pool, secretsKeys: readonly string[]): void {
  let published: ReturnType<typeof loadPublishedExportKeys> | undefined;
  app.get(exportKeysPath, async (_request, reply) => {
    published ??= loadPublishedExportKeys(pool, secretsKeys);
    try {
      return await reply.header('cache-control', 'public, max-age=300').send(await published);
    } catch (error) {
      // The next request reads them again.
      published = undefined;
      throw error;
    }
  });
}
