// Runs the generator on a copy of the workspace, with the command that people use. The generated app must
// start and pass the specs for every app.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { FsTree } from 'nx/src/generators/tree.js';
import { programEnvironment } from '@muster/testing/environment';
import { repositoryRoot } from '@muster/tools';
import { createTrialWorkspace, type NxResult, type TrialWorkspace } from '../../../jest/trial-workspace.ts';
import app from './generator.ts';

const minutes = 60_000;
let workspace: TrialWorkspace;

/** Files that list every app, or that the specs compare with an app. */
const whole = [
  ...['CODEOWNERS', 'Dockerfile', '.dockerignore', '.env.example', '.node-version', 'docker-compose.yml'],
  ...['.github', 'apps', 'libs', 'docs/guides', 'tools/deploy'],
];

const generate = (name: string, owner: string): Promise<NxResult> =>
  workspace.run('nx', [
    ...['generate', './tools/repository/generators:app', name],
    ...['--description=Reports by mail', `--owner=${owner}`],
  ]);

beforeAll(async () => {
  workspace = await createTrialWorkspace({ realProjects: true, files: {} });
  for (const place of whole)
    await cp(path.join(repositoryRoot, place), path.join(workspace.root, place), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !source.includes('node_modules'),
    });
  const { exitCode, stdout, stderr } = await generate('report-sender', 'platform');
  if (exitCode !== 0) throw new Error(`nx said: ${stdout}${stderr}`);
}, 2 * minutes);
afterAll(() => workspace.remove());

it('starts on its own port, and is ready', async () => {
  const started = spawn(process.execPath, ['apps/report-sender/src/main.ts'], {
    cwd: workspace.root,
    env: { ...programEnvironment(), HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(started, 'exit');
  try {
    for await (const line of createInterface(started.stdout)) {
      const { msg, address } = JSON.parse(line) as { msg: string; address?: string };
      if (msg !== 'listening') continue;
      expect((await fetch(`${address ?? ''}/readyz`)).status).toBe(200);
      break;
    }
    started.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  } finally {
    started.kill('SIGKILL');
  }
});

it('has correct types', async () => {
  const tsc = await workspace.run('node', ['node_modules/typescript-7/bin/tsc', '-p', 'apps/report-sender']);
  expect(tsc).toMatchObject({ exitCode: 0, stdout: '' });
});

it.each([
  ['apps/report-sender', []],
  // The specs of tools/deploy check the release, image, compose service and manifests of the new app.
  [
    'tools/deploy',
    ['(compose|dockerfile|kubernetes|workflows).spec', '-t=report-sender|every app|each program'],
  ],
])(
  'passes the specs of %s',
  async (folder, which) => {
    const { exitCode, stderr } = await workspace.run('node', [
      ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
      ...['node_modules/jest/bin/jest.js', '-c', 'jest.config.js', '--rootDir', folder, ...which],
    ]);
    expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/Tests: +(\d+ skipped, )?[1-9]\d* passed/)]);
  },
  2 * minutes,
);

it('has an owner, and a port that nobody else has', async () => {
  const read = (file: string) => readFile(path.join(workspace.root, file), 'utf8');
  expect(await read('CODEOWNERS')).toMatch(/^#@ \/apps\/report-sender\/ +@muster\/platform$/m);
  const offsets = [...(await read('tools/dev/ports.ts')).matchAll(/offset: (\d+)/g)].map(([, one]) => one);
  expect(offsets).toEqual([...new Set(offsets)]);
});

it.each([
  ['report-sender', 'platform', 'apps/report-sender is there already'],
  ['another', 'nobody', 'CODEOWNERS knows no team nobody'],
])('makes no %s of %s twice or for nobody', async (name, owner, why) => {
  // Calls the generator as Nx does, without the seconds that Nx needs to start. A rejected call writes
  // nothing.
  const made = app(new FsTree(workspace.root, false), { name, owner, description: 'Reports by mail' });
  await expect(made).rejects.toThrow(why);
});
