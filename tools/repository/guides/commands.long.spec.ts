/**
 * Checks that every command in CONTRIBUTING.md's table, and the README's first call, works as described. The commands run on an instance of `npm
 * start`, separate from all others.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { findFreePort } from '@muster/testing/ports';
import { type DevFile, portsOfApps, repositoryRoot } from '@muster/tools';

/** The limit is generous, because the machine may be busy. A command that hangs ends by itself. */
jest.setTimeout(600_000);

const run = path.join(repositoryRoot, 'tools/dev/run.mjs');
const nx = path.join(repositoryRoot, 'node_modules/nx/dist/bin/nx.js');
let folder: string;
let environment: NodeJS.ProcessEnv;

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function begin(command: string, args: readonly string[]) {
  const child = spawn(command, args, {
    cwd: repositoryRoot,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
  const ended = once(child, 'exit').then(([code]): Ended => ({ code: code as number | null, output: said }));
  return { child, ended, said: () => said };
}

const ends = (command: string, args: readonly string[]): Promise<Ended> => begin(command, args).ended;
const npmRun = (...args: string[]): Promise<Ended> => ends(process.execPath, [run, ...args]);

let instance: ReturnType<typeof begin>;
let devFile: DevFile;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-commands-'));
  const site = path.join(folder, 'no-site');
  const ports: Record<string, string> = {};
  for (const { variable } of Object.values(portsOfApps)) ports[variable] = String(await findFreePort());
  // Nx and Jest mark their child processes with environment variables. The commands must not see them.
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(NX_|JEST_|NODE_|npm_)|^(DATABASE|REDIS)_URL$/.test(name),
  );
  environment = {
    ...Object.fromEntries(own),
    ...ports,
    ...{ MUSTER_DATA: path.join(folder, 'data'), SITE_FOLDER: site, NX_DAEMON: 'false', FORCE_COLOR: '0' },
  };
  instance = begin(process.execPath, [run, 'start']);
  const isUp = new Promise<void>((resolve) => {
    instance.child.stdout.on('data', () => {
      if (instance.said().includes('Ctrl-C stops everything')) resolve();
    });
  });
  await Promise.race([isUp, instance.ended]);
  expect(instance.said()).toContain('Muster is up.');
  devFile = JSON.parse(await readFile(path.join(folder, 'data/dev.json'), 'utf8')) as DevFile;
});
afterAll(async () => {
  instance.child.kill('SIGTERM');
  const { code } = await instance.ended;
  // If root runs the tests, `data/postgres` is a symbolic link to a cluster in another place.
  await rm(await realpath(path.join(folder, 'data/postgres')), { recursive: true, force: true });
  await rm(folder, { recursive: true });
  expect(code).toBe(0);
});

describe('npm start', () => {
  it('comes up though the docs are not there, and all else answers', async () => {
    expect((await fetch(`${devFile.docsUrl ?? ''}/readyz`).catch(() => null))?.status ?? 503).toBe(503);
    for (const url of [devFile.baseUrl, devFile.licenseUrl, devFile.workerUrl])
      expect((await fetch(`${url ?? ''}/readyz`)).status).toBe(200);
  });

  it('lets nobody else read logs and mails', async () => {
    expect((await stat(path.join(folder, 'data/logs'))).mode & 0o777).toBe(0o700);
    const mails = await stat(path.join(folder, 'data/mail')).catch(() => undefined);
    expect(mails === undefined || (mails.mode & 0o777) === 0o700).toBe(true);
  });

  it('answers the first call', async () => {
    const [, call = ''] = /```sh\n(BASE_URL=[\s\S]*?)```/.exec(readme) ?? [];
    const here = call.replaceAll('./.data/dev.json', path.join(folder, 'data/dev.json'));
    const { code, output: said } = await ends('bash', ['-ec', here]);
    expect([code, said]).toEqual([0, expect.stringContaining('"items":[{')]);
  });
});

const readme = await readFile(path.join(repositoryRoot, 'README.md'), 'utf8');
const contributing = await readFile(path.join(repositoryRoot, 'CONTRIBUTING.md'), 'utf8');
const named = [...contributing.matchAll(/^\| `([^`]+)`/gm)].map(([, command]) => command ?? '');

type Attempt = readonly [attempt: () => Promise<Ended>, says: RegExp];

/**
 * Each command of the table in CONTRIBUTING.md: the call that tests it, shortened if it would take long, and a pattern
 * for its output.
 */
const tried: Readonly<Record<string, Attempt>> = {
  'npm run tour': [() => npmRun('tour'), /\(the instance that runs here\)[^]*\b(\d+) of \1 checks hold/],
  'npm run tour -- --mcp': [() => npmRun('tour', '--mcp'), /\b(\d+) of \1 checks hold/],
  'npm run prove': [() => npmRun('prove', '--short', '--only', 'feeds'), /1 of 1 properties are proven/],
  'npm run bench': [
    () => npmRun('bench', '--rounds', '1', '--seconds', '0.2', '--only', 'stories.get'),
    /Muster \/ bare[^]*stories\.get/,
  ],
  'npm run muster -- --help': [
    () => npmRun('muster', 'stories', 'list', '--project-id', 'WEB'),
    /^WEB-\d+ /m,
  ],
  'npm run license -- --help': [() => npmRun('license', 'doctor'), /^ok {4}signing/m],
  'npx nx affected -t lint typecheck test build': [
    () =>
      ends(process.execPath, [nx, 'affected', '-t', 'lint', 'typecheck', 'test', 'build', '--graph=stdout']),
    /"tasks"/,
  ],
  'npx nx g ./tools/repository/generators:operation': [
    () =>
      ends(process.execPath, [
        nx,
        'g',
        './tools/repository/generators:operation',
        'epics.peek',
        '--effect=read',
        '--summary=Peek',
        '--description=Peeks.',
        '--dry-run',
      ]),
    /CREATE .*peek/,
  ],
};

describe('--help', () => {
  it.each(['start', 'test', 'bench', 'prove', 'tour', 'images', 'generate', 'muster', 'license'])(
    'is what npm run %s says, and all that it does',
    async (command) => {
      const { code, output: said } = await npmRun(command, '--help');
      expect([code, said]).toEqual([0, expect.stringMatching(/^(npm (run )?\w+|Usage)/)]);
    },
  );
});

/**
 * Commands that are tested elsewhere. A spec of tools/repository/generate compares the output of `npm run generate` with
 * the repository. A job of CI builds and runs the images as root.
 */
const elsewhere = ['npm run generate', 'npm run images'];

describe('every command', () => {
  it('is tried', () => {
    expect(named.filter((one) => !elsewhere.includes(one)).sort()).toEqual(Object.keys(tried).sort());
  });

  const goesWell = async (_command: string, [attempt, says]: Attempt): Promise<void> => {
    const { code, output: said } = await attempt();
    expect(said).toMatch(says);
    // The output is on both sides of the comparison, so that a failure shows it.
    expect([code, said]).toEqual([0, said]);
  };
  // Each tour works in an organization of its own.
  const isTour = ([command]: [string, Attempt]): boolean => command.startsWith('npm run tour');
  it.concurrent.each(Object.entries(tried).filter(isTour))('%s', goesWell);
  it.each(Object.entries(tried).filter((one) => !isTour(one)))('%s', goesWell);
});
