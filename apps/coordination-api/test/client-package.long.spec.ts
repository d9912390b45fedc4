/** The client package as customers install it: standalone, in a project outside this repository. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import vm from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { transform } from 'esbuild';
import { useApi } from './api.ts';
import { compile, usePrograms } from './programs.ts';

const run = promisify(execFile);
const workspaceRoot = path.resolve(import.meta.dirname, '../../..');
const api = useApi({ CORS_ORIGINS: '*' });
const programs = usePrograms();
/** A customer's project, and the package installed in it. */
let project: string;
let installedFolder: string;

beforeAll(async () => {
  project = await mkdtemp(path.join(tmpdir(), 'muster-client-package-'));
  installedFolder = path.join(project, 'node_modules/@muster/client');
  const built = path.join(project, 'built');
  await run(process.execPath, ['tools/build/build-lib.ts', 'libs/client', built], { cwd: workspaceRoot });
  await run('npm', ['pack', '--pack-destination', project], { cwd: built });
  await rm(built, { recursive: true });
  await writeFile(path.join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const [packed = ''] = (await readdir(project)).filter((file) => file.endsWith('.tgz'));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', packed], { cwd: project });
  await writeFile(path.join(project, 'tour.js'), tour);
}, 180_000);
// Processes of a killed browser may still be writing.
afterAll(() => rm(project, { recursive: true, maxRetries: 20, retryDelay: 200 }));

/** One program for Node, for a browser, and for a runtime with only their common features. */
const tour = `
  import { connect, followEvents, isRefusal, MusterError, NotFoundError, withLease } from '@muster/client';
  export async function tour(options, projectId) {
    const muster = connect(options);
    await muster.projects.create({ key: projectId, name: 'Website' });
    for (const title of ['One', 'Two', 'Three']) await muster.stories.create({ projectId, title, status: 'ready' });
    const titles = [];
    for await (const { title } of muster.stories.list.all({ projectId, limit: 2 })) titles.push(title);
    const missing = await muster.stories.get({ storyId: projectId + '-9' }).catch((error) => error);
    const target = { targetType: 'story', targetId: projectId + '-1' };
    const kinds = [];
    await withLease(muster, target, async (lease) => {
      await lease.checkpoint({ summary: 'Half of it' });
      for await (const { kind } of followEvents(muster, lease.executionId)) {
        kinds.push(kind);
        if (kind === 'checkpointed') break;
      }
    });
    const wrong = { storyId: projectId + '-1', status: 'done', expectedVersion: 99 };
    const refused = await muster.stories.updateStatus(wrong).catch((error) => error);
    return JSON.stringify({
      titles: titles.sort(), kinds,
      missing: missing instanceof NotFoundError && missing instanceof MusterError && missing.name,
      refused: isRefusal(refused, 'version_mismatch') && refused.status,
    });
  }`;
const seen = {
  titles: ['One', 'Three', 'Two'],
  kinds: ['acquired', 'checkpointed'],
  missing: 'NotFoundError',
  refused: 409,
};
const options = async (): Promise<{ baseUrl: string; token: string }> => {
  const { ana } = await api.org();
  return { baseUrl: api.url(), token: ana.me.token };
};

it('brings one package without dependencies: JavaScript, types and a README', async () => {
  expect(await readdir(path.join(project, 'node_modules/@muster'))).toEqual(['client']);
  const manifest = JSON.parse(await readFile(path.join(installedFolder, 'package.json'), 'utf8')) as object;
  expect(manifest).toMatchObject({ name: '@muster/client', type: 'module', sideEffects: false });
  expect(manifest).not.toHaveProperty('dependencies');
  const files = await readdir(installedFolder, { recursive: true });
  expect(files).toEqual(expect.arrayContaining(['README.md', 'index.d.ts', 'contract.d.ts']));
  expect(files.filter((file) => !/\.d\.ts$|\.md$|^LICENSE$/.test(file)).sort()).toEqual([
    'NOTICE',
    'core',
    'index.js',
    'package.json',
  ]);
  for (const file of files.filter((one) => /\.(js|ts)$/.test(one))) {
    const text = await readFile(path.join(installedFolder, file), 'utf8');
    for (const [, from] of text.matchAll(/(?:\bfrom |\bimport\()["']([^"']+)["']/g)) {
      expect([file, from]).toEqual([file, expect.stringMatching(/^\.{1,2}\/(core\/)?[a-z-]+\.js$/)]);
    }
  }
});

it('is as small as its README says', async () => {
  const [, stated = ''] =
    /([\d.]+) KiB minified/.exec(await readFile(path.join(installedFolder, 'README.md'), 'utf8')) ?? [];
  const { code } = await transform(await readFile(path.join(installedFolder, 'index.js'), 'utf8'), {
    minify: true,
  });
  const kibibytes = gzipSync(code).length / 1024;
  expect(kibibytes).toBeLessThanOrEqual(Number(stated));
  expect(kibibytes).toBeGreaterThan(Number(stated) - 0.5);
});

it('has types for a project that has neither those of Node nor zod', async () => {
  const program = (more: string): string => `
    import { connect, isRefusal } from '@muster/client';
    import { type Story } from '@muster/client/contract';
    const muster = connect({ baseUrl: 'https://muster.example', token: 't', forSeconds: 5 });
    export async function titles(projectId: string): Promise<string[]> {
      const { story } = await muster.stories.create({ projectId, title: 'Sign in' });
      const same: Story = story;
      const all = [same.title];
      for await (const { title } of muster.stories.list.all({ projectId, status: ['ready'] })) all.push(title);
      ${more}
      return all;
    }`;
  await writeFile(path.join(project, 'right.ts'), program(''));
  await writeFile(
    path.join(project, 'wrong.ts'),
    program(`story.colour; muster.stories.shred({}); await muster.stories.get({}); isRefusal(1, 'moody');`),
  );
  const compilerOptions = {
    ...{ noEmit: true, strict: true, skipLibCheck: false, types: [] },
    ...{ target: 'es2022', lib: ['es2022', 'dom'], module: 'nodenext' },
  };
  const complaints = await compile(project, { compilerOptions, files: ['right.ts', 'wrong.ts'] });
  expect(Object.keys(complaints)).toEqual(['wrong.ts']);
  for (const word of ["'colour'", "'shred'", "'storyId' is missing", '"moody"'])
    expect(complaints['wrong.ts']).toContain(word);
}, 180_000);

it('says of every operation what the contract says', async () => {
  const packed = JSON.stringify(path.join(installedFolder, 'index.js'));
  await programs.write(
    'same.ts',
    `import { type Client as Here } from '@muster/client';
     import { type Client as Packed } from ${packed};
     export const there = (here: Here): Packed => here;
     export const back = (packed: Packed): Here => packed;`,
  );
  expect(await programs.compile('same.ts')).toEqual({});
}, 180_000);

it('runs in Node', async () => {
  const { baseUrl, token } = await options();
  const main = `import { tour } from './tour.js'; console.log(await tour(${JSON.stringify({ baseUrl, token })}, 'WEB'));`;
  await writeFile(path.join(project, 'main.js'), main);
  const { stdout } = await run(process.execPath, ['--no-experimental-strip-types', 'main.js'], {
    cwd: project,
  });
  expect(JSON.parse(stdout)).toEqual(seen);
});

it('needs nothing but what Node 18 and browsers both have', async () => {
  const context = vm.createContext({
    ...{ fetch, URL, AbortController, AbortSignal, setTimeout, clearTimeout, performance },
  });
  const moduleOf = (text: string): vm.SourceTextModule => new vm.SourceTextModule(text, { context });
  const client = moduleOf(await readFile(path.join(installedFolder, 'index.js'), 'utf8'));
  const main = moduleOf(tour);
  await main.link(() => client);
  await main.evaluate();
  const namespace = main.namespace as { tour(options: object, projectId: string): Promise<string> };
  expect(JSON.parse(await namespace.tour(await options(), 'WEB'))).toEqual(seen);
});

/** Path of Chrome or a related browser, from CHROME_PATH or its usual locations. */
const browser = [
  process.env['CHROME_PATH'],
  ...['google-chrome', 'chromium', 'chromium-browser', 'microsoft-edge'].flatMap((name) =>
    (process.env['PATH'] ?? '').split(path.delimiter).map((folder) => path.join(folder, name)),
  ),
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((file) => file !== undefined && existsSync(file));

(browser === undefined ? it.skip : it)(
  'runs in a browser, called from a page of another origin',
  async () => {
    let tell: (said: string) => void = () => undefined;
    const said = new Promise<string>((resolve) => (tell = resolve));
    const settings = JSON.stringify(await options());
    const page = `<!doctype html>
    <script type="importmap">{ "imports": { "@muster/client": "/client.js" } }</script>
    <script type="module">
      const say = (body) => fetch('/said', { method: 'POST', body });
      import('/tour.js').then(({ tour }) => tour(${settings}, 'WEB')).then(say, (error) => say(String(error)));
    </script>`;
    const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
      '/': ['text/html', page],
      '/tour.js': ['text/javascript', tour],
      '/client.js': ['text/javascript', await readFile(path.join(installedFolder, 'index.js'), 'utf8')],
    };
    const server = createServer((request, response) => {
      const [type, text] = files[request.url ?? ''] ?? ['text/plain', ''];
      response.writeHead(200, { 'content-type': type }).end(text);
      if (request.url !== '/said') return;
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => tell(body));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const profile = path.join(project, 'profile');
    await mkdir(profile);
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const chrome = spawn(
      browser ?? '',
      [
        '--headless',
        '--no-first-run',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        `--user-data-dir=${profile}`,
        address,
      ],
      { stdio: 'ignore' },
    );
    const gone = once(chrome, 'exit');
    try {
      const early = gone.then(() => 'the browser ended before the page had said anything');
      expect(await Promise.race([said, early])).toBe(JSON.stringify(seen));
    } finally {
      chrome.kill('SIGKILL');
      await gone;
      server.close().closeAllConnections();
    }
  },
);
