/** Exports an organization by the command line, while exports are written as the worker writes them. */
import path from 'node:path';
import { expect } from '@jest/globals';
import { createFolderStorage, type ExportContext, prepareExportRun } from '@muster/attachments';
import { archiveReaders } from '@muster/operations';
import { inOrganizationAsSystem } from '@muster/tenancy';
import { type People } from '@muster/testing';
import { type CommandResult, type Muster } from './muster.ts';

/** Writes the waiting exports of an organization. Waits for a moment, so that a caller may repeat it. */
async function writeWaitingExports(muster: Muster, orgId: string): Promise<void> {
  const context: ExportContext = {
    ...{ pool: muster.world.database.app, readers: archiveReaders, secretsKeys: [], baseUrl: muster.url() },
    storage: createFolderStorage(path.join(muster.home(), 'files')),
    onError: (error) => {
      throw error;
    },
  };
  const waiting = await muster.world.rows<{ id: string | null }>(
    `select id, pg_sleep(0.1) from exports where org_id = $1 and state in ('queued', 'running')
     union all select null, pg_sleep(0.1)`,
    orgId,
  );
  for (const { id } of waiting) {
    if (id === null) continue;
    const write = await inOrganizationAsSystem(context.pool, orgId, (db) =>
      prepareExportRun(context, { db, orgId }, id),
    );
    const finish = await write?.(new AbortController().signal);
    if (finish !== undefined) await inOrganizationAsSystem(context.pool, orgId, finish);
  }
}

/** Runs `muster export` while exports are written. */
export async function runExport(muster: Muster, people: People, ...args: string[]): Promise<CommandResult> {
  const ended = new AbortController();
  const command = muster
    .run(['export', ...args], { cwd: muster.home(), env: muster.environmentOf(people.ana) })
    .finally(() => {
      ended.abort();
    });
  while (!ended.signal.aborted) await writeWaitingExports(muster, people.orgId);
  return command;
}

/** Exports the organization, and returns the archive's file. */
export async function exportArchive(muster: Muster, people: People): Promise<string> {
  const file = path.join(muster.home(), 'archive.tar.gz');
  expect(await runExport(muster, people, '-o', file)).toMatchObject({ code: 0, err: '' });
  return file;
}
