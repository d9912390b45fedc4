/** Deletes files whose attachment was deleted. A worker that is killed leaves the rest to the next run. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Pool, sql } from '@muster/driver';
import { acrossOrganizations } from '@muster/tenancy';
import { type FileStorage } from './storage/storage.ts';

const batchSize = 200;
const abandonedUploadMillis = 24 * 60 * 60 * 1_000;

/** Deletes the due files of a database server, and returns their number. */
export async function removeDueFiles(pool: Pool, storage: FileStorage, signal: AbortSignal): Promise<number> {
  let removed = 0;
  for (;;) {
    signal.throwIfAborted();
    const due = await acrossOrganizations(pool, (db) =>
      db.all(
        sql<{
          key: string;
        }>`select d.key from app.file_deletions d where d.due_at <= now() order by d.due_at limit ${batchSize}`,
      ),
    );
    if (due.length === 0) return removed;
    for (const { key } of due) await storage.remove(key);
    const keys = due.map(({ key }) => key);
    await acrossOrganizations(pool, (db) =>
      db.all(sql`delete from app.file_deletions d where d.key = any (${keys}::text[])`),
    );
    removed += due.length;
    if (due.length < batchSize) return removed;
  }
}

/** Deletes uploads that arrived in part on a machine that was then killed. */
export async function removeAbandonedUploads({ incomingFolder }: FileStorage): Promise<void> {
  const before = Date.now() - abandonedUploadMillis;
  const names = await readdir(incomingFolder).catch(() => []);
  for (const name of names) {
    const path = join(incomingFolder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: before }));
    if (mtimeMs < before) await rm(path, { force: true });
  }
}
