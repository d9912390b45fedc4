import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createTrialWorkspace, type TrialWorkspace } from '../jest/trial-workspace.ts';

const app = 'apps/trial-app';

const manifest = (name: string, type: string, dependencies: Record<string, string>): string =>
  JSON.stringify({
    name: `@muster/${name}`,
    version: '0.0.0',
    private: true,
    type: 'module',
    exports: './src/index.ts',
    dependencies,
    nx: { tags: [type], targets: { build: {} } },
  });

/** An app that uses the database and one domain, next to a domain that it does not use. */
const files = {
  'apps/trial-app/package.json': manifest('trial-app', 'type:app', {
    '@muster/migrations': '0.0.0',
    '@muster/trial-used': '0.0.0',
  }),
  'apps/trial-app/tsconfig.json': '{}',
  'apps/trial-app/src/main.ts': `
    import { readdirSync } from 'node:fs';
    import { escape } from '@muster/migrations';
    import { said } from '@muster/trial-used';
    const sql: string[] = ['migrations', 'functions'].flatMap((it) => readdirSync(new URL(it, import.meta.url)));
    console.log(JSON.stringify({ said, escaped: escape("it's"), sql }));`,
  'apps/trial-app/src/cli.ts': `import { said } from '@muster/trial-used';\nconsole.log('cli', said);`,
  'libs/migrations/package.json': manifest('migrations', 'type:platform', { pg: '8.23.1' }),
  'libs/migrations/tsconfig.json': '{}',
  'libs/migrations/src/index.ts': `import pg from 'pg';\nexport const escape = pg.escapeLiteral;`,
  'libs/migrations/migrations/0001_first.sql': 'select 1;',
  'libs/migrations/functions/enter.sql': 'select 1;',
  'libs/trial-used/package.json': manifest('trial-used', 'type:domain', {}),
  'libs/trial-used/tsconfig.json': '{}',
  'libs/trial-used/src/index.ts': `export const said: string = 'first';`,
  'libs/trial-unused/package.json': manifest('trial-unused', 'type:domain', {}),
  'libs/trial-unused/tsconfig.json': '{}',
  'libs/trial-unused/src/index.ts': 'export {};',
};

let workspace: TrialWorkspace;

beforeAll(async () => {
  workspace = await createTrialWorkspace({ realProjects: false, files });
});
afterAll(() => workspace.remove());

async function build(): Promise<{ fromCache: boolean }> {
  const { exitCode, stdout, stderr } = await workspace.run('nx', [
    'run-many',
    '-t',
    'build',
    '-p',
    'trial-app',
  ]);
  if (exitCode !== 0) throw new Error(`nx said: ${stdout}${stderr}`);
  return { fromCache: stdout.includes('read the output from the cache') };
}

describe('a bundled app', () => {
  it('runs in an empty folder, commands, migrations and functions included', async () => {
    await build();
    const empty = await mkdtemp(path.join(tmpdir(), 'muster-bundle-'));
    try {
      await cp(path.join(workspace.root, 'dist', app), empty, { recursive: true });
      const inEmpty = { cwd: empty, env: {} };
      const main = await promisify(execFile)(process.execPath, ['main.js'], inEmpty);
      expect(JSON.parse(main.stdout)).toEqual({
        said: 'first',
        escaped: "'it''s'",
        sql: ['0001_first.sql', 'enter.sql'],
      });
      const cli = await promisify(execFile)(process.execPath, ['cli.js'], inEmpty);
      expect(cli.stdout).toBe('cli first\n');
    } finally {
      await rm(empty, { recursive: true });
    }
  });

  it('is refused when there is nothing to start', async () => {
    await workspace.write({ 'apps/trial-empty/package.json': '{}' });
    const { exitCode, stderr } = await workspace.run('node', [
      'tools/build/build-app.ts',
      'apps/trial-empty',
    ]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('apps/trial-empty has no src/main.ts');
  });
});

describe('a rebuild', () => {
  // Each test leaves its files in place, and the next test begins with them.
  beforeAll(() => build());

  it('is spared when specs change, or what they are made with', async () => {
    await workspace.write({
      'libs/trial-used/src/index.spec.ts': `export const changed = true;`,
      'apps/trial-app/test/whole-api.ts': `export const changed = true;`,
    });
    expect(await build()).toEqual({ fromCache: true });
  });

  it('is spared when a domain changes that the app does not use', async () => {
    await workspace.write({ 'libs/trial-unused/src/index.ts': 'export const changed = true;' });
    expect(await build()).toEqual({ fromCache: true });
    expect(await affectedBuilds('libs/trial-unused/src/index.ts')).toEqual(['@muster/trial-unused']);
  });

  it('follows a change of a domain that the app uses', async () => {
    await workspace.write({ 'libs/trial-used/src/index.ts': `export const said: string = 'second';` });
    expect(await affectedBuilds('libs/trial-used/src/index.ts')).toEqual([
      '@muster/trial-app',
      '@muster/trial-used',
    ]);
    expect(await build()).toEqual({ fromCache: false });
    expect(await readFile(path.join(workspace.root, 'dist', app, 'main.js'), 'utf8')).toContain('second');
  });

  it('follows a new migration, and a function that changed', async () => {
    await workspace.write({ 'libs/migrations/migrations/0002_second.sql': 'select 2;' });
    expect(await build()).toEqual({ fromCache: false });
    await workspace.write({ 'libs/migrations/functions/enter.sql': 'select 2;' });
    expect(await build()).toEqual({ fromCache: false });
  });

  async function affectedBuilds(file: string): Promise<string[]> {
    const args = ['show', 'projects', '--affected', `--files=${file}`, '--with-target=build', '--json'];
    const { stdout } = await workspace.run('nx', args);
    return (JSON.parse(stdout) as string[]).filter((name) => name.includes('trial')).sort();
  }
});
