/** A deleted story comes back with its executions, runs and files, which are kept as long as the story. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeEach, expect, it } from '@jest/globals';
import { createFolderStorage, removeDueFiles } from '@muster/attachments';
import { type Client } from '@muster/client';
import { type AllHandlers } from '@muster/operations';
import { type People } from '@muster/testing';
import { useApi } from './api.ts';
import { createFilesFolder, downloadFile, filesIn, storeFile } from './files.ts';

const folder = await createFilesFolder();
const api = useApi({ FILES_FOLDER: folder });
afterAll(() => rm(folder, { recursive: true, force: true }));

const storyId = 'WEB-1';
const target = { targetType: 'story' as const, targetId: storyId };
let people: People<AllHandlers>;
let ana: Client;
let robo: Client;

beforeEach(async () => {
  people = await api.org();
  ana = api.client(people.ana.me.token);
  robo = api.client(people.robo.me.token);
  await ana.projects.create({ name: 'Web', key: 'WEB' });
  await ana.stories.create({ projectId: 'WEB', title: 'Sign in', status: 'ready' });
});

/** Deletes files whose time has come, as the worker does. */
const removeFiles = () =>
  removeDueFiles(api.world.database.app, createFolderStorage(folder), new AbortController().signal);

const withoutAddresses = (value: unknown): string =>
  JSON.stringify(value, (key, field: unknown) =>
    ['version', 'updatedAt', 'downloadUrl'].includes(key) ? undefined : field,
  );

it('leaves what the API says about its work and files as it was', async () => {
  const { execution, leaseToken } = await robo.deliveryExecutions.acquire({ ...target, start: true });
  const grip = { executionId: execution.id, leaseToken };
  await robo.agents.runEvent({ runId: 'run-1', projectId: 'WEB', storyId, kind: 'started', message: 'Go' });
  await robo.deliveryExecutions.checkpoint({ ...grip, summary: 'Half', filesTouched: ['src/a.ts'] });
  await storeFile(api, ana, target, 'On the story');
  await storeFile(api, ana, { targetType: 'execution', targetId: execution.id }, 'On the execution');
  await robo.deliveryExecutions.update({ ...grip, git: { branch: 'topic' } });
  await robo.deliveryExecutions.complete({ ...grip, outcome: 'submitted' });
  await api.world.rows(
    `with changes as (
       insert into code_changes (org_id, id, project_id, execution_id, source, head_sha, state, file_count)
       select org_id, gen_random_uuid(), project_id, id, 'runner', 'abc', 'ready', 1 from executions where id = $1
       returning org_id, id)
     insert into code_change_files (org_id, changes_id, seq, path, status, additions, deletions, is_binary, is_truncated)
     select org_id, id, 1, 'src/a.ts', 'modified', 1, 0, false, false from changes`,
    execution.id,
  );
  const changedFiles = () =>
    api.world.rows(
      `select c.head_sha, f.path from code_changes c join code_change_files f on f.changes_id = c.id
       where c.org_id = $1 and c.execution_id = $2`,
      ...[people.orgId, execution.id],
    );
  const { run } = await ana.agents.runs.get({ runId: 'run-1', projectId: 'WEB' });
  const everything = async () =>
    withoutAddresses([
      await ana.deliveryExecutions.list({ projectId: 'WEB' }),
      await ana.deliveryExecutions.get({ executionId: execution.id }),
      await ana.deliveryExecutions.eventsSince({ executionId: execution.id }),
      (await ana.agents.runs.list({ storyId })).items.map(({ runId, story }) => [runId, story]),
      await ana.attachments.list(target),
      await ana.attachments.list({ targetType: 'execution', targetId: execution.id }),
      await ana.stories.list({ projectId: 'WEB' }),
      await changedFiles(),
    ]);
  expect(run).toBeDefined();
  const before = await everything();
  await ana.stories.delete({ storyId });
  await expect(ana.deliveryExecutions.get({ executionId: execution.id })).rejects.toMatchObject({
    status: 404,
  });
  expect(await removeFiles()).toBe(0);
  await ana.stories.restore({ storyId });
  expect(await everything()).toBe(before);
  const [file] = (await ana.attachments.list(target)).items;
  expect((await downloadFile(api, file?.downloadUrl ?? null)).content.toString()).toBe('On the story');
  // The files belong to the story again.
  await api.world.rows(
    `update app.file_deletions set due_at = now() - interval '1 day' where key like $1`,
    `${people.orgId}/%`,
  );
  expect(await removeFiles()).toBe(0);
});

it('gives nobody a lease that ended with the deletion', async () => {
  const { execution } = await robo.deliveryExecutions.acquire({ ...target, start: true });
  await api.world.rows(
    `update leases set expires_at = now() - interval '1 second' where org_id = $1`,
    people.orgId,
  );
  await ana.stories.delete({ storyId });
  await ana.stories.restore({ storyId });
  expect((await ana.deliveryExecutions.get({ executionId: execution.id })).execution).toMatchObject({
    state: 'available',
  });
  const again = await robo.deliveryExecutions.acquire({ ...target, start: true });
  expect(again.execution.id).toBe(execution.id);
});

it('keeps the files of a story that was not restored for a day longer than the story', async () => {
  await storeFile(api, ana, target, 'Hello');
  const stored = await filesIn(folder);
  await ana.stories.delete({ storyId });
  const due = await api.world.rows<{ days: number }>(
    `select round(extract(epoch from due_at - now()) / 86400)::int as days from app.file_deletions where key like $1`,
    `${people.orgId}/%`,
  );
  expect(due).toEqual([{ days: 31 }]);
  expect(await removeFiles()).toBe(0);
  expect(await filesIn(folder)).toEqual(stored);
});
