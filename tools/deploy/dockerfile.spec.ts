/**
 * Tests the Dockerfile without Docker. A parser reads it, and one of its builds runs step by step in an empty
 * folder.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findFreePort } from '@muster/testing/ports';
import { Copy } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { portOfApp, repositoryRoot } from '@muster/tools';
import { appNames } from './apps.ts';
import {
  copiesOf,
  dockerfileText,
  instructionsOf,
  lastOf,
  matchesOf,
  stageOf,
  stages,
  variablesOf,
  wordsOf,
} from './dockerfile.ts';
import { buildImage, type TrialImage } from './trial-image.ts';

const contentOf = (stage: string, keyword: string): string | null | undefined =>
  lastOf(stage, keyword)?.getArgumentsContent();

it('has nothing that a linter minds', () => {
  expect(
    validate(dockerfileText).map(({ message, range }) => ({ message, line: range.start.line + 1 })),
  ).toEqual([]);
});

it('has a target for each app that is a program', () => {
  const apps = globSync('apps/*/src/main.ts', { cwd: repositoryRoot }).map((file) => file.split(path.sep)[1]);
  expect(apps).toContain('cli');
  expect(stages.map(({ name }) => name)).toEqual(expect.arrayContaining(apps));
});

it('builds and runs with the Node of .node-version', async () => {
  const version = (await readFile(path.join(repositoryRoot, '.node-version'), 'utf8')).trim();
  for (const stage of ['manifests', 'packages', 'node'])
    expect(stageOf(stage).base).toBe(`node:${version}-trixie-slim`);
});

it('asks nothing of its builder that only some have', () => {
  expect(dockerfileText).not.toMatch(/^# *syntax=/m);
  const copies = stages.flatMap(({ instructions }) => instructions.filter((one) => one instanceof Copy));
  const flags = copies.flatMap((copy) => copy.getFlags().map((flag) => flag.getName()));
  expect(new Set(flags)).toEqual(new Set(['from', 'chown']));
});

it('copies only what is there, is not ignored, and was built before', async () => {
  for (const [index, stage] of stages.entries()) {
    for (const { from, sources } of copiesOf(stage.instructions)) {
      if (from !== undefined) expect(stages.slice(0, index).map(({ name }) => name)).toContain(from);
      for (const source of from === undefined ? sources : [])
        expect({ source, matches: (await matchesOf(source)).length }).not.toEqual({ source, matches: 0 });
    }
  }
});

it('is sent no secret, no tests and no packages', async () => {
  for (const file of ['.env', '.git', 'node_modules', 'dist', 'apps/cli/test', 'apps/cli/node_modules'])
    expect({ file, sent: existsSync(path.join(repositoryRoot, file)) ? await matchesOf(file) : [] }).toEqual({
      file,
      sent: [],
    });
  expect(await matchesOf('libs/http/src/config.spec.ts')).toEqual([]);
  expect(await matchesOf('libs/http/src/config.ts')).toEqual(['libs/http/src/config.ts']);
});

describe.each(appNames)('the image of %s', (app) => {
  it('listens where the app does, and says so', () => {
    const port = portOfApp(app, {}).toString();
    expect({ ...variablesOf(app), exposed: contentOf(app, 'EXPOSE') }).toMatchObject({
      PORT: port,
      exposed: port,
      NODE_ENV: 'production',
    });
  });

  it('runs as nobody, is asked for its health, and is told to stop as the app expects it', () => {
    expect(contentOf(app, 'USER')).toBe('65532:65532');
    expect(contentOf(app, 'STOPSIGNAL')).toBe('SIGTERM');
    expect(wordsOf(lastOf(app, 'HEALTHCHECK')).slice(0, 2)).toEqual(['/usr/local/bin/node', '-e']);
    expect(wordsOf(lastOf(app, 'ENTRYPOINT'))).toEqual([
      '/usr/local/bin/node',
      '--max-semi-space-size=16',
      'main.js',
    ]);
  });

  it('holds the bundle, and of the build nothing else', () => {
    const copied = copiesOf(instructionsOf(app)).filter(({ from }) => from !== 'node');
    const sources = copied.flatMap(({ from, sources: some }) => some.map((source) => `${from} ${source}`));
    expect(sources).toContain(`build-${app} /build/dist/apps/${app}`);
    // Empty folders for mails and files.
    expect(sources.filter((source) => !/ \/build\/(mail|files)$/.test(source))).toHaveLength(1);
  });
});

describe('a build of mcp-gateway', () => {
  let image: TrialImage;
  beforeAll(async () => {
    image = await buildImage('mcp-gateway');
  }, 120_000);
  afterAll(() => image.remove());

  it('starts from what is copied alone, is well by its own health check, and stops', async () => {
    const environment = {
      ...{ ...image.variables, METRICS_PORT: '0' },
      PORT: (await findFreePort()).toString(),
    };
    expect(await image.isHealthy(environment)).toBe(false);
    const server = spawn(process.execPath, image.entrypoint, {
      cwd: image.folder,
      env: { ...environment, COORDINATION_API_URL: 'http://127.0.0.1:1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(server, 'exit');
    try {
      for await (const line of createInterface(server.stdout)) {
        if ((JSON.parse(line) as { msg: string }).msg === 'listening') break;
      }
      expect((await fetch(`http://127.0.0.1:${environment.PORT}/livez`)).status).toBe(200);
      expect(await image.isHealthy(environment)).toBe(true);
    } finally {
      server.kill('SIGTERM');
    }
    expect(await exited).toEqual([0, null]);
  });
});
