// Tests the published tarball alone, installed by npm into an empty folder of a machine that has only Node.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { productVersion } from '@muster/contract';
import { type People } from '@muster/testing';
import { useMuster } from './muster.ts';

const muster = useMuster();
const run = promisify(execFile);
const workspaceRoot = path.resolve(import.meta.dirname, '../../..');

let people: People;
let folder: string;
let installedFolder: string;
beforeAll(async () => {
  people = await muster.world.org();
  await muster.apiClient(people.chloe).projects.create({ key: 'WEB', name: 'Web' });
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-package-')));
  await run(process.execPath, ['tools/build/pack.ts', folder, 'apps/cli'], {
    cwd: workspaceRoot,
    env: { ...process.env, GITHUB_REPOSITORY: 'acme/muster' },
  });
  const [tarball = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  const quiet = ['--offline', '--no-audit', '--no-fund', '--silent', '--cache', path.join(folder, 'cache')];
  await run(
    'npm',
    ['install', '--global', '--prefix', path.join(folder, 'machine'), ...quiet, path.join(folder, tarball)],
    {
      cwd: folder,
    },
  );
  installedFolder = path.join(folder, 'machine/lib/node_modules/@muster/cli');
}, 120_000);
afterAll(() => rm(folder, { recursive: true }));

/** Returns the oldest supported Node, if this machine has it. */
function oldestNode(): string | undefined {
  const places = (process.env['PATH'] ?? '').split(path.delimiter).concat('/usr/bin', '/usr/local/bin');
  return places
    .map((place) => path.join(place, 'node'))
    .find((node) => {
      try {
        return execFileSync(node, ['--version'], { encoding: 'utf8' }).startsWith('v20.');
      } catch {
        return false;
      }
    });
}

const runWithNode = (node: string, ...args: string[]) =>
  run(node, [path.join(installedFolder, 'main.js'), ...args], {
    cwd: folder,
    env: { HOME: folder, PATH: path.dirname(node), ...muster.environmentOf(people.chloe) },
  });

it('brings a command, a license and a page, and asks for no other package', async () => {
  const manifest = JSON.parse(await readFile(path.join(installedFolder, 'package.json'), 'utf8')) as object;
  expect(manifest).toMatchObject({
    name: '@muster/cli',
    bin: { muster: './main.js' },
    engines: { node: '>=20' },
  });
  expect(manifest).toMatchObject({
    ...{ version: productVersion, license: 'Apache-2.0' },
    repository: { url: 'git+https://github.com/acme/muster.git' },
  });
  expect(manifest).not.toHaveProperty('dependencies');
  expect(manifest).not.toHaveProperty('private');
  expect(await readdir(installedFolder)).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'main.js']));
  expect(await readdir(path.join(folder, 'machine/bin'))).toEqual(['muster']);
});

const nodeVersions: [string, string | undefined][] = [
  ['the Node that runs this', process.execPath],
  ['Node 20', oldestNode()],
];
for (const [name, node = ''] of nodeVersions) {
  (node === '' ? it.skip : it)(`runs on ${name}: version, help, calls, imports and views`, async () => {
    expect((await runWithNode(node, '--version')).stdout).toMatch(/^\S+ \(Node \d+\.\d+\.\d+\)\n$/);
    expect((await runWithNode(node, '--version')).stdout).toContain(`${productVersion} `);
    expect((await runWithNode(node, '--help')).stdout).toContain('delivery-executions');
    expect((await runWithNode(node, 'projects', 'list')).stdout).toContain('WEB');
    expect((await runWithNode(node, 'watch')).stdout).toContain('WEB');
    const script = path.join(installedFolder, 'package.json');
    await expect(
      runWithNode(node, 'import', 'trello', script, '--project', 'WEB', '--dry-run'),
    ).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not a Trello board export'),
    });
    expect(
      (await runWithNode(node, 'mcp', 'install', 'cursor', '--auth', 'token', '--print')).stdout,
    ).toContain('mcpServers');
  });
}

it('uses nothing that Node 20 lacks, but what it brings itself', async () => {
  const files = (await readdir(installedFolder)).filter((name) => name.endsWith('.js'));
  const code = (
    await Promise.all(files.map((name) => readFile(path.join(installedFolder, name), 'utf8')))
  ).join('\n');
  const newer =
    /\b(?:Promise\.(?:withResolvers|try)|Array\.fromAsync|(?:Object|Map)\.groupBy|RegExp\.escape|Iterator\.(?:from|concat)|Math\.sumPrecise|Error\.isError|Uint8Array\.fromBase64)\(/g;
  const used = new Set([...code.matchAll(newer)].map(([name]) => name));
  const brought = ['Promise.withResolvers(', 'Array.fromAsync('];
  expect([...used].filter((name) => !brought.includes(name))).toEqual([]);
});
