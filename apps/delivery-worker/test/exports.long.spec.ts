/** A worker that is killed while it writes a large export: another one continues, and neither needs much memory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createGunzip } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createFolderStorage } from '@muster/attachments';
import { handlers, withInternalHandlers } from '@muster/operations';
import {
  type PeopleOf,
  programEnvironment,
  type SpecRedis,
  startSpecRedis,
  useWorld,
  waitUntil,
} from '@muster/testing';
import { bundleFileOf } from '@muster/testing/bundles';

const workspaceRoot = path.resolve(import.meta.dirname, '../../..');
const world = useWorld(withInternalHandlers(handlers));
let redis: SpecRedis;
let folder: string;
let people: PeopleOf<typeof world>;
let worker: ChildProcess | undefined;

const [storyCount, specBytes] = [2_500, 160_000];
/** The specs alone are larger than the memory that a worker may use. */
const maxWorkerBytes = 350_000_000;

beforeAll(async () => {
  redis = await startSpecRedis();
  folder = await mkdtemp(path.join(tmpdir(), 'muster-exports-'));
  people = await world.org();
  const { project } = await people.ana.projects.create({ key: 'WEB', name: 'Web' });
  await world.rows(
    `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by, spec_version)
     select $1, gen_random_uuid(), $2, n, 'Story ' || n, 'backlog', c.id, lpad(n::text, 8, '0'), '{"kind":"member","name":"Ana","memberId":null,"agentId":null}', 1
     from generate_series(1, $3::int) n, (select id from board_columns where org_id = $1 and project_id = $2 and status = 'backlog' limit 1) c`,
    ...[people.orgId, project.id, storyCount],
  );
  await world.rows(
    `insert into story_specs (org_id, story_id, version, content, content_hash, lines_added, lines_removed, author)
     select org_id, id, 1, repeat(md5(id::text), $2::int / 32), md5(id::text), 1, 0, created_by from stories where org_id = $1`,
    ...[people.orgId, specBytes],
  );
});
afterAll(async () => {
  worker?.kill('SIGKILL');
  await redis.kill();
  await rm(folder, { recursive: true });
});

const startWorker = (): ChildProcess =>
  spawn(process.execPath, [bundleFileOf('apps/delivery-worker/src/main.ts')], {
    cwd: workspaceRoot,
    env: {
      ...{ ...programEnvironment(), PORT: '0', METRICS_PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'warn' },
      ...{ DATABASE_URL: world.database.url, REDIS_URL: redis.url, FILES_FOLDER: path.join(folder, 'files') },
      ...{ BASE_URL: 'https://muster.example', MAIL_FOLDER: folder },
      // Without a limit, Node collects garbage late.
      NODE_OPTIONS: '--max-old-space-size=160 --max-semi-space-size=8',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });

/** Returns the largest memory that the process used so far. */
async function peakBytesOf({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1_024;
}

async function kill(killed: ChildProcess): Promise<void> {
  const exited = once(killed, 'exit');
  killed.kill('SIGKILL');
  await exited;
  // The job of the killed worker is due immediately, instead of after its timeout.
  await world.rows('update outbox set dispatch_after = now() where done_at is null');
  await redis.sendCommand('FLUSHALL');
}

it('is continued by the next one after each kill', async () => {
  const { export: begun } = await people.ana.exports.begin({ scope: 'org' });
  const current = async () => (await people.ana.exports.get({ exportId: begun.id })).export;
  let size = 0;
  for (let kills = 0; kills < 3; kills += 1) {
    worker = startWorker();
    const before = size;
    await waitUntil(async () => ({ size } = await current()).size > before);
    expect((await current()).state).toBe('running');
    await kill(worker);
  }
  worker = startWorker();
  await waitUntil(async () => (await current()).state !== 'running');
  expect(await current()).toMatchObject({ state: 'done', failure: null });
  const peakBytes = await peakBytesOf(worker);

  const parts = await world.rows<{ id: string }>(
    'select id from export_parts where export_id = $1 order by position',
    begun.id,
  );
  const storage = createFolderStorage(path.join(folder, 'files'));
  const gunzip = createGunzip();
  const feeding = (async () => {
    for (const { id } of parts)
      for await (const chunk of (await storage.open(`${people.orgId}/${id}`)) ?? [])
        if (!gunzip.write(chunk)) await once(gunzip, 'drain');
    gunzip.end();
  })();
  // The file of specs has its digest in the manifest, which was computed over several parts and workers.
  const files = await world.rows<{ name: string; size: string; sha256: string; records: number }>(
    'select name, size, sha256, records from export_files where export_id = $1',
    begun.id,
  );
  const specs = files.find(({ name }) => name === 'specs.ndjson');
  expect(specs).toMatchObject({ records: storyCount });
  const [hash, length] = [createHash('sha256'), Number(specs?.size)];
  let [at, from] = [0, -1];
  for await (const chunk of gunzip as AsyncIterable<Buffer>) {
    if (from < 0) {
      const header = chunk.indexOf('specs.ndjson\0');
      if (header >= 0 && (at + header) % 512 === 0) from = at + header + 512;
    }
    if (from >= 0) hash.update(chunk.subarray(Math.max(0, from - at), Math.max(0, from + length - at)));
    at += chunk.length;
  }
  await feeding;
  expect(hash.digest('hex')).toBe(specs?.sha256);
  expect(length).toBeGreaterThan(maxWorkerBytes);
  expect(peakBytes).toBeLessThan(maxWorkerBytes);
}, 300_000);
