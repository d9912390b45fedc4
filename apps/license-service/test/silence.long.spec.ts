/** Tests the operators' command line with a Postgres that accepts connections but never answers. All commands run in parallel. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { programEnvironment } from '@muster/testing';
import { type LicenseWorld, openLicenseWorld } from './world.ts';

let world: LicenseWorld;
let folder: string;
const servers: Server[] = [];
const sockets = new Set<Socket>();
beforeAll(async () => {
  world = await openLicenseWorld();
  folder = await mkdtemp(path.join(tmpdir(), 'muster-license-silence-'));
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
  await world.close();
  await rm(folder, { recursive: true });
});

/**
 * Starts a proxy to Postgres that sends no more answers after a query with one of these words; without words, from the
 * start. With `passes` the query itself still reaches Postgres.
 */
async function startSilentServer(words: RegExp | undefined, { passes = false } = {}): Promise<string> {
  const url = new URL(world.url);
  const [port, host] = [Number(url.port), url.hostname];
  const server = createServer((here) => {
    sockets.add(here.on('error', () => undefined));
    if (words === undefined) {
      here.resume();
      return;
    }
    const there = connect(port, host).on('error', () => undefined);
    sockets.add(there);
    let isSilent = false;
    here.on('data', (bytes: Buffer) => {
      const isNow = !isSilent && words.test(bytes.toString('latin1'));
      isSilent ||= isNow;
      if (!isSilent || (isNow && passes)) there.write(bytes);
    });
    there.on('data', (bytes: Buffer) => {
      if (!isSilent) here.write(bytes);
    });
    here.on('close', () => there.destroy());
  });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return url.href;
}

interface CommandResult {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

async function runLicenseCommand(url: string, ...args: string[]): Promise<CommandResult> {
  const child = spawn(process.execPath, [path.resolve(import.meta.dirname, '../src/cli.ts'), ...args], {
    env: { ...programEnvironment(), DATABASE_URL: url },
  });
  child.stdin.end();
  const [exit, out, err] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  return { exitCode: Number((exit as [number | null])[0]), out, err };
}

const errorOf = ({ out }: CommandResult) =>
  (JSON.parse(out) as { error: { reason: string; message: string } }).error;

it.concurrent('says in JSON, and in one sentence, that nothing was changed where no answer comes at all', async () => {
  const { id } = await world.issue();
  const silent = await startSilentServer(undefined);
  const commands = [['list'], ['revoke', '--id', id], ['stats'], ['signing-key', 'new'], ['migrate']];
  const [words, ...all] = await Promise.all([
    runLicenseCommand(silent, 'list'),
    ...commands.map((command) => runLicenseCommand(silent, ...command, '--json')),
  ]);
  for (const ran of all) {
    expect([ran.exitCode, ran.err, errorOf(ran)]).toEqual([
      ...[1, ''],
      { reason: 'no_database', message: expect.stringMatching(/does not answer.*; nothing was changed$/) },
    ]);
  }
  expect([words.exitCode, words.out, words.err.trim().split('\n')]).toEqual([
    ...[1, ''],
    [expect.stringMatching(/^license: PostgreSQL does not answer.*nothing was changed$/)],
  ]);
});

it.concurrent('says that nothing was changed where Postgres falls silent before the change is confirmed', async () => {
  const { id } = await world.issue();
  const ran = await runLicenseCommand(
    await startSilentServer(/update licenses\.licenses/),
    'revoke',
    '--id',
    id,
    '--json',
  );
  expect([ran.exitCode, errorOf(ran)]).toEqual([
    1,
    { reason: 'no_database', message: expect.stringContaining('nothing was changed') },
  ]);
  expect(await world.rows('select status from licenses.licenses where id = $1', id)).toEqual([
    { status: 'active' },
  ]);
});

it.concurrent('says that the outcome is unknown where the confirmation does not come, and keeps the keys that may count', async () => {
  const file = path.join(folder, 'keys.txt');
  const silent = await startSilentServer(/commit/, { passes: true });
  const issue = ['issue', '--plan', 'silent', '--perpetual', '--order', 'silent-1', '--out', file, '--json'];
  const [ran, read] = await Promise.all([
    runLicenseCommand(silent, ...issue),
    runLicenseCommand(silent, 'list', '--json'),
  ]);
  expect([ran.exitCode, errorOf(ran)]).toEqual([
    1,
    { reason: 'outcome_unknown', message: expect.stringContaining('outcome is unknown') },
  ]);
  // The license was issued although its answer was lost.
  const rows = await world.rows<{ hint: string }>(
    `select key_hint as hint from licenses.licenses where order_ref = 'silent-1'`,
  );
  expect((await readFile(file, 'utf8')).trim().slice(-4)).toBe(rows[0]?.hint);
  // The message of a read-only command says that nothing was changed, wherever the command failed.
  expect(errorOf(read)).toEqual({
    reason: 'no_database',
    message: expect.stringContaining('nothing was changed'),
  });
});
