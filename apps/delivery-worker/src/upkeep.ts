/** Jobs that keep tables small. A failure for one table or record does not stop the others. */
import { type FileStorage, removeAbandonedUploads, removeDueFiles } from '@muster/attachments';
import { type Pool } from '@muster/driver';
import { forEachInSequence, forEachNode } from '@muster/placement';
import { type Logger } from 'pino';
import { endAbandonedRunsEverywhere } from './abandoned-runs.ts';
import { maintainMonthlyPartitions } from './months.ts';
import { type Workers } from './perform.ts';
import { purge, purgedTables, markOldNotificationsRead } from './purge.ts';
import { type RemovalProgress, removeOrganizations, removeProjects, removeWebhooks } from './remove.ts';

export interface UpkeepContext {
  readonly pool: Pool;
  readonly logger: Logger;
  /** Days for which completed records are kept. */
  readonly retentionDays: number;
  /** The storage of files; undefined if none is configured. */
  readonly storage: FileStorage | undefined;
  /** Called with the number of rows that were removed because their parent was deleted. */
  readonly onRowsRemoved: (rows: number) => void;
}

export function createUpkeep({
  pool,
  logger,
  retentionDays,
  storage,
  onRowsRemoved,
}: UpkeepContext): Pick<Workers, 'retention.purge' | 'deletions.remove' | 'files.remove'> {
  const monthsLater = (error: unknown): [] => {
    logger.warn({ err: error }, 'the monthly partitions will be maintained at the next turn');
    return [];
  };
  const purgeAt = async (at: Pool, signal: AbortSignal): Promise<void> => {
    await endAbandonedRunsEverywhere(at, signal);
    await markOldNotificationsRead(at, signal);
    for (const change of await maintainMonthlyPartitions(at).catch(monthsLater))
      logger.info(change, 'a month of a table');
    await forEachInSequence(purgedTables, async (table) => {
      const rows = await purge(at, signal, table, retentionDays);
      if (rows > 0) logger.info({ table, rows }, 'purged rows past their retention time');
    });
  };
  const progress: RemovalProgress = {
    onRowsRemoved,
    log: (about, message) => {
      logger.info(about, message);
    },
  };
  return {
    'retention.purge': (signal) => forEachNode(pool, (at) => purgeAt(at.pool, signal)),
    'files.remove': async (signal) => {
      if (storage === undefined) return;
      await forEachNode(pool, async (at) => {
        const files = await removeDueFiles(at.pool, storage, signal);
        if (files > 0) logger.info({ files }, 'deleted files');
      });
      await removeAbandonedUploads(storage);
    },
    'deletions.remove': (signal) =>
      forEachNode(pool, (at) =>
        forEachInSequence(
          [
            () => removeProjects(at.pool, signal, progress),
            () => removeWebhooks(at.pool, signal, progress),
            () => removeOrganizations(at, signal, progress),
          ],
          (remove) => remove(),
        ),
      ),
  };
}
