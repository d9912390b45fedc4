/** The deletion of files whose attachment was deleted, also if a worker is killed during it. */
import { access, mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createFolderStorage, type FileStorage } from '@muster/attachments';
import { newId } from '@muster/driver';
import { handlers, withInternalHandlers } from '@muster/operations';
import { type PeopleOf, useWorld } from '@muster/testing';
import { pino } from 'pino';
import { createUpkeep } from '../src/upkeep.ts';

const world = useWorld(withInternalHandlers(handlers));
const { signal } = new AbortController();
const folder = await mkdtemp(join(tmpdir(), 'muster-files-'));
const storage = createFolderStorage(folder);
afterAll(() => rm(folder, { recursive: true }));

const workers = (withStorage: FileStorage = storage) =>
  createUpkeep({
    ...{ pool: world.database.app, logger: pino({ level: 'silent' }), storage: withStorage },
    ...{ retentionDays: 90, onRowsRemoved: () => undefined },
  });

let people: PeopleOf<typeof world>;
let projectId: string;
let storyId: string;

beforeEach(async () => {
  people = await world.org();
  ({ id: projectId } = (await people.ana.projects.create({ name: 'Web', key: 'WEB' })).project);
  ({ id: storyId } = (await people.ana.stories.create({ projectId, title: 'Sign in' })).story);
});

/** Creates an attachment with a file, as a finished upload leaves it. */
async function attach(state: 'pending' | 'stored' = 'stored') {
  const { attachment } = await people.ana.attachments.create({
    ...{ targetType: 'story', targetId: storyId, name: 'a.txt', contentType: 'text/plain' },
    ...{ size: 1, sha256: 'a'.repeat(64) },
  });
  await world.rows('update attachments set state = $2 where id = $1', attachment.id, state);
  const path = join(folder, people.orgId, attachment.id);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, 'x');
  return { id: attachment.id, path };
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

describe('the files of', () => {
  it('a deleted attachment are deleted, others stay', async () => {
    const [gone, kept] = [await attach(), await attach()];
    await people.ana.attachments.delete({ attachmentId: gone.id });
    await workers()['files.remove'](signal);
    expect([await exists(gone.path), await exists(kept.path)]).toEqual([false, true]);
  });

  it('a deleted project are deleted', async () => {
    const file = await attach();
    await people.ana.projects.delete({ projectId, confirmKey: 'WEB' });
    await workers()['deletions.remove'](signal);
    await workers()['files.remove'](signal);
    expect(await exists(file.path)).toBe(false);
  });

  it('a deleted organization are deleted', async () => {
    const file = await attach();
    await world.rows(`update orgs set deleted_at = now() - interval '31 days' where id = $1`, people.orgId);
    await workers()['deletions.remove'](signal);
    await workers()['files.remove'](signal);
    expect(await exists(file.path)).toBe(false);
  });

  it('an export are deleted after 7 days, and not before', async () => {
    const write = async (days: number) => {
      const { export: begun } = await people.ana.exports.begin({ scope: 'org' });
      const part = newId();
      const path = join(folder, people.orgId, part);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, 'x');
      await world.rows(
        `update exports set state = 'done', finished_at = now() - make_interval(days => $2, secs => 1) where id = $1`,
        ...[begun.id, days],
      );
      await world.rows(
        `insert into export_parts (org_id, export_id, id, position, size) values ($1, $2, $3, 0, 1)`,
        ...[people.orgId, begun.id, part],
      );
      return { id: begun.id, path };
    };
    const [old, recent] = [await write(7), await write(6)];
    await workers()['retention.purge'](signal);
    await workers()['files.remove'](signal);
    expect([await exists(old.path), await exists(recent.path)]).toEqual([false, true]);
    expect((await people.ana.exports.list({})).items.map(({ id }) => id)).toEqual([recent.id]);
  });

  it('an upload that was never finished are deleted after its address has expired', async () => {
    const file = await attach('pending');
    await people.ana.attachments.delete({ attachmentId: file.id });
    await workers()['files.remove'](signal);
    expect(await exists(file.path)).toBe(true);
    const expired = await attach('pending');
    await world.rows(
      `update attachments set created_at = now() - interval '25 hours' where id = $1`,
      expired.id,
    );
    await workers()['retention.purge'](signal);
    await workers()['files.remove'](signal);
    expect(await exists(expired.path)).toBe(false);
  });
});

it('a deletion that fails midway is continued by the next run', async () => {
  const files = [await attach(), await attach(), await attach()];
  for (const { id } of files) await people.ana.attachments.delete({ attachmentId: id });
  let left = 1;
  const failing: FileStorage = {
    ...storage,
    remove: async (key) => {
      if (left === 0) throw new Error('killed');
      left -= 1;
      await storage.remove(key);
    },
  };
  await expect(workers(failing)['files.remove'](signal)).rejects.toThrow('killed');
  const remaining = async () => (await Promise.all(files.map(({ path }) => exists(path)))).filter(Boolean);
  expect(await remaining()).toHaveLength(2);
  await workers()['files.remove'](signal);
  expect(await remaining()).toHaveLength(0);
});

it('parts of uploads are deleted a day after they were written', async () => {
  const [old, recent] = [join(storage.incomingFolder, 'old'), join(storage.incomingFolder, 'recent')];
  await mkdir(storage.incomingFolder, { recursive: true });
  for (const path of [old, recent]) await writeFile(path, 'x');
  const twoDaysAgo = Date.now() / 1_000 - 2 * 86_400;
  await utimes(old, twoDaysAgo, twoDaysAgo);
  await workers()['files.remove'](signal);
  expect([await exists(old), await exists(recent)]).toEqual([false, true]);
});
