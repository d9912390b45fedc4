// Runs the real lint with the real tags on code that breaks each rule of "who may import whom", and on code
// that keeps it.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import path from 'node:path';
import { createTrialWorkspace, type TrialWorkspace } from '../../jest/trial-workspace.ts';

interface Case {
  file: string;
  imports: string;
  /** The expected message of lint. Undefined if the import is allowed. */
  refusal?: RegExp;
}

const onlyTags = (tag: string): RegExp =>
  new RegExp(`tagged with "${tag}" can only depend on libs tagged with`);
const banned = (tag: string, name: string): RegExp =>
  new RegExp(`tagged with "${tag}" is not allowed to import "${name}"`);

const refused: Case[] = [
  { file: 'libs/contract/src/a.ts', imports: '@muster/registry', refusal: /Circular dependency/ },
  { file: 'libs/registry/src/b.ts', imports: 'kysely', refusal: banned('type:registry', 'kysely') },
  {
    file: 'libs/board-registry/src/a.ts',
    imports: '@muster/trial-registry',
    refusal: onlyTags('type:domain-registry'),
  },
  { file: 'libs/board/src/h.ts', imports: '@muster/registry', refusal: onlyTags('type:domain') },
  { file: 'libs/runtime/src/a.ts', imports: '@muster/trial-domain', refusal: onlyTags('type:platform') },
  { file: 'libs/runtime/src/b.ts', imports: '@muster/registry', refusal: onlyTags('type:platform') },
  { file: 'libs/organizations/src/a.ts', imports: '@muster/trial-domain', refusal: onlyTags('type:domain') },
  { file: 'libs/board/src/a.ts', imports: '@muster/notifications', refusal: onlyTags('type:domain') },
  { file: 'libs/board/src/a.spec.ts', imports: '@muster/notifications', refusal: onlyTags('type:domain') },
  { file: 'libs/board/src/b.ts', imports: '@muster/testing', refusal: onlyTags('type:domain') },
  { file: 'libs/board/src/c.ts', imports: 'fastify', refusal: banned('type:domain', 'fastify') },
  { file: 'libs/board/src/d.ts', imports: 'ioredis', refusal: banned('type:domain', 'ioredis') },
  { file: 'libs/board/src/g.ts', imports: '@muster/operations', refusal: /Circular dependency/ },
  { file: 'libs/operations/src/a.ts', imports: '@muster/client', refusal: onlyTags('type:composition') },
  { file: 'libs/operations/src/b.ts', imports: 'fastify', refusal: banned('type:composition', 'fastify') },
  {
    file: 'libs/board/src/e.ts',
    imports: '../../notifications/src/index.ts',
    refusal: /by a relative or absolute path/,
  },
  { file: 'libs/board/src/f.ts', imports: '@muster/trial-license', refusal: onlyTags('type:domain') },
  {
    file: 'apps/trial-gateway/test/a.spec.ts',
    imports: '../../coordination-api/src/index.ts',
    refusal: /by a relative or absolute path/,
  },
  { file: 'libs/driver/src/a.ts', imports: '@muster/trial-platform', refusal: onlyTags('scope:driver') },
  {
    file: 'libs/migrations/src/a.ts',
    imports: '@muster/trial-platform',
    refusal: onlyTags('scope:migrations'),
  },
  {
    file: 'libs/placement/src/a.ts',
    imports: '@muster/trial-platform',
    refusal: onlyTags('scope:placement'),
  },
  { file: 'libs/client/src/a.ts', imports: '@muster/driver', refusal: onlyTags('type:client') },
  { file: 'libs/testing/src/a.ts', imports: '@muster/client', refusal: onlyTags('type:testing') },
  { file: 'apps/coordination-api/src/a.ts', imports: '@muster/testing', refusal: onlyTags('type:app') },
  {
    file: 'apps/trial-gateway/src/a.ts',
    imports: '@muster/driver',
    refusal: onlyTags('scope:mcp-gateway'),
  },
  { file: 'apps/trial-gateway/src/b.ts', imports: '@muster/board', refusal: onlyTags('scope:mcp-gateway') },
  { file: 'apps/trial-gateway/src/c.ts', imports: 'pg', refusal: banned('scope:mcp-gateway', 'pg') },
  {
    file: 'apps/trial-license/src/a.ts',
    imports: '@muster/registry',
    refusal: onlyTags('scope:license-service'),
  },
  {
    file: 'apps/trial-license/src/b.ts',
    imports: '@muster/license-client',
    refusal: onlyTags('scope:license-service'),
  },
  {
    file: 'libs/license-client/src/a.ts',
    imports: '@muster/registry',
    refusal: /tagged with "scope:license-client" cannot depend on any libs with tags/,
  },
  { file: 'libs/license-client/src/b.ts', imports: 'zod', refusal: banned('scope:license-client', 'zod') },
  { file: 'libs/trial-untagged/src/a.ts', imports: '@muster/registry', refusal: /A project without tags/ },
  { file: 'tools/system-tests/bench/a.ts', imports: '@muster/billing', refusal: onlyTags('type:tools') },
  {
    file: 'tools/system-tests/bench/b.ts',
    imports: '../../../libs/registry/src/index.ts',
    refusal: /by a relative or absolute path/,
  },
  {
    file: 'tools/system-tests/bench/by-path.ts',
    imports: '../../dev/ports.ts',
    refusal: /by a relative or absolute path/,
  },
  {
    file: 'tools/dev/a.ts',
    imports: '../system-tests/bench/measure.ts',
    refusal: /by a relative or absolute path/,
  },
];

const allowed: Case[] = [
  { file: 'libs/registry/src/allowed.ts', imports: 'zod' },
  { file: 'libs/board-registry/src/allowed.ts', imports: 'zod' },
  { file: 'libs/board/src/allowed-registry.ts', imports: '@muster/delivery-registry' },
  { file: 'libs/registry/src/allowed.spec.ts', imports: 'fast-check' },
  { file: 'libs/driver/src/allowed.ts', imports: '@muster/contract' },
  { file: 'libs/driver/src/allowed.spec.ts', imports: '@muster/testing' },
  { file: 'libs/placement/src/allowed.ts', imports: '@muster/migrations' },
  { file: 'libs/tenancy/src/allowed.ts', imports: '@muster/placement' },
  { file: 'libs/board/src/allowed.ts', imports: '@muster/organizations' },
  { file: 'libs/board/src/allowed-platform.ts', imports: '@muster/driver' },
  { file: 'libs/board/src/allowed.spec.ts', imports: '@muster/testing' },
  { file: 'libs/testing/src/allowed.ts', imports: '@muster/client-core' },
  { file: 'libs/testing/src/allowed-platform.ts', imports: '@muster/driver' },
  { file: 'libs/testing/src/allowed-own.ts', imports: './allowed.ts' },
  { file: 'libs/operations/src/allowed.ts', imports: '@muster/trial-domain' },
  { file: 'apps/coordination-api/src/allowed.ts', imports: '@muster/board' },
  { file: 'apps/coordination-api/src/allowed-all.ts', imports: '@muster/operations' },
  { file: 'apps/coordination-api/test/allowed.spec.ts', imports: '@muster/testing' },
  { file: 'apps/trial-gateway/src/allowed.ts', imports: '@muster/client' },
  { file: 'apps/trial-gateway/src/allowed-service.ts', imports: '@muster/http' },
  { file: 'apps/trial-gateway/test/allowed.spec.ts', imports: '@muster/examples' },
  { file: 'apps/trial-license/src/allowed.ts', imports: '@muster/driver' },
  { file: 'apps/trial-license/src/allowed.spec.ts', imports: '@muster/license-client' },
  { file: 'libs/license-client/src/allowed.ts', imports: 'node:crypto' },
  { file: 'tools/system-tests/bench/allowed.ts', imports: '@muster/board' },
  { file: 'tools/repository/allowed-servers.ts', imports: '@muster/tools' },
  { file: 'tools/system-tests/bench/allowed-all.ts', imports: '@muster/operations' },
];

const project = (
  folder: string,
  tags: string[],
  dependencies: Record<string, string> = {},
): Record<string, string> => ({
  [`${folder}/package.json`]: JSON.stringify({
    name: `@muster/${path.basename(folder)}`,
    version: '0.0.0',
    private: true,
    type: 'module',
    exports: './src/index.ts',
    dependencies,
    nx: { tags, targets: { lint: {}, typecheck: {} } },
  }),
  [`${folder}/tsconfig.json`]: '{ "extends": "../../tsconfig.base.json" }',
  [`${folder}/src/index.ts`]: 'export {};\n',
});

const files: Record<string, string> = {
  ...project('apps/trial-gateway', ['type:app', 'scope:mcp-gateway']),
  ...project('apps/trial-license', ['type:app', 'scope:license-service']),
  ...project('libs/trial-platform', ['type:platform']),
  ...project('libs/trial-domain', ['type:domain']),
  ...project('libs/trial-registry', ['type:domain-registry']),
  ...project('libs/trial-untagged', [], { kysely: '0.29.9' }),
  'apps/coordination-api/tsconfig.json': '{ "extends": "../../tsconfig.base.json" }',
  ...Object.fromEntries(
    [...refused, ...allowed].map(({ file, imports }) => [file, `import '${imports}';\n`]),
  ),
};

interface LintedFile {
  filePath: string;
  messages: { ruleId: string | null; message: string }[];
}

let workspace: TrialWorkspace;
let linted: LintedFile[];

const findingsIn = (file: string, ruleId: string): string[] => {
  const found = linted.find(({ filePath }) => filePath.endsWith(`/${file}`));
  if (found === undefined) throw new Error(`${file} was not linted`);
  return found.messages.filter((message) => message.ruleId === ruleId).map(({ message }) => message);
};

beforeAll(async () => {
  workspace = await createTrialWorkspace({ realProjects: true, files });
  // The copy has no project graph yet, so this run also proves that lint does not skip its rules without a
  // graph.
  const { stdout, stderr } = await workspace.run('eslint', [
    '--format',
    'json',
    'apps',
    'libs',
    'tools/system-tests/bench',
    'tools/repository/allowed-servers.ts',
    'tools/dev/a.ts',
  ]);
  if (!stdout.startsWith('[')) throw new Error(`eslint said: ${stdout}${stderr}`);
  linted = JSON.parse(stdout) as LintedFile[];
}, 120_000);

afterAll(() => workspace.remove());

describe('the boundary rule', () => {
  const rule = '@nx/enforce-module-boundaries';

  it.each(refused)('refuses $imports in $file', ({ file, refusal }) => {
    expect(findingsIn(file, rule)).toEqual([expect.stringMatching(refusal ?? /./)]);
  });

  it.each(allowed)('lets $file import $imports', ({ file }) => {
    expect(findingsIn(file, rule)).toEqual([]);
  });

  it('fails inside Nx when there is no project graph, rather than skipping itself', async () => {
    const { exitCode, stderr } = await workspace.run('eslint', ['libs/board'], {
      NX_TASK_TARGET_PROJECT: '@muster/board',
      NX_WORKSPACE_DATA_DIRECTORY: 'no-such-folder',
    });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining('No cached ProjectGraph'),
    });
  });
});

describe('the rule for manifests', () => {
  const rule = '@nx/dependency-checks';

  it('refuses a dependency that nothing imports, and an import that is no dependency', () => {
    expect(findingsIn('libs/trial-untagged/package.json', rule)).toEqual([
      expect.stringMatching(/missing from "dependencies":\s+- @muster\/registry/),
      expect.stringContaining('The "kysely" package is not used'),
    ]);
  });

  it('leaves what only specs import to devDependencies', () => {
    expect(findingsIn('libs/driver/package.json', rule).join()).not.toContain('@muster/testing');
  });
});
