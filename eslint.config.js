// What lint says of the graph of projects: who may import whom, and what a manifest has to name. All else is oxlint's
// (.oxlintrc.json), which needs types and is ten times as fast.
import { createProjectGraphAsync, readCachedProjectGraph } from '@nx/devkit';
import nx from '@nx/eslint-plugin';
import * as tsParser from '@typescript-eslint/parser';
import { defineConfig, globalIgnores } from 'eslint/config';
import jsoncParser from 'jsonc-eslint-parser';

// Without a project graph Nx's rules skip themselves with a mere warning. Nx makes a fresh one before its tasks;
// anybody else (an editor, a bare `eslint`) gets it made here, and where that fails lint fails.
if (process.env.NX_TASK_TARGET_PROJECT === undefined) await createProjectGraphAsync();
readCachedProjectGraph();

/** Who may import whom. A project keeps every line whose tag it carries. */
const boundaries = [
  {
    sourceTag: 'type:contract',
    onlyDependOnLibsWithTags: ['type:contract'],
    allowedExternalImports: ['zod'],
  },
  {
    sourceTag: 'type:platform',
    onlyDependOnLibsWithTags: ['type:contract', 'type:platform'],
  },
  // The libraries of the database stand on one another: driver and migrations below placement, and tenancy on top.
  { sourceTag: 'scope:driver', onlyDependOnLibsWithTags: ['type:contract', 'scope:tracing'] },
  { sourceTag: 'scope:migrations', onlyDependOnLibsWithTags: ['type:contract'] },
  {
    sourceTag: 'scope:placement',
    onlyDependOnLibsWithTags: ['type:contract', 'scope:driver', 'scope:migrations'],
  },
  {
    // Domains meet through events and jobs, never by import; people is their common core.
    sourceTag: 'type:domain',
    onlyDependOnLibsWithTags: ['type:contract', 'type:platform', 'scope:organizations'],
    bannedExternalImports: ['fastify', '@fastify/*', 'bullmq', 'ioredis', '@modelcontextprotocol/*'],
  },
  {
    // All domains in one, and nothing of its own.
    sourceTag: 'type:composition',
    onlyDependOnLibsWithTags: ['type:contract', 'type:platform', 'type:domain'],
    bannedExternalImports: ['*'],
  },
  {
    sourceTag: 'type:client',
    onlyDependOnLibsWithTags: ['type:contract'],
  },
  {
    sourceTag: 'type:testing',
    onlyDependOnLibsWithTags: ['type:contract', 'type:platform', 'type:client'],
  },
  {
    // Of board and delivery, the tables that diagrams are drawn from.
    sourceTag: 'type:tools',
    onlyDependOnLibsWithTags: [
      'type:contract',
      'type:platform',
      'type:client',
      'scope:organizations',
      'scope:board',
      'scope:delivery',
      // What is proven without HTTP in between.
      'type:composition',
      // Proofs send the requests that specs do.
      'type:testing',
      // Servers, databases and apps that tools start.
      'scope:tools',
    ],
  },
  {
    sourceTag: 'type:app',
    onlyDependOnLibsWithTags: [
      'type:contract',
      'type:platform',
      'type:domain',
      'type:composition',
      'type:client',
      // Commands that the command line contains.
      'scope:runner',
    ],
    bannedExternalImports: ['bullmq', 'ioredis'],
  },
  {
    // The gateway reaches the product over HTTP alone.
    sourceTag: 'scope:mcp-gateway',
    onlyDependOnLibsWithTags: ['type:contract', 'type:client', 'scope:http'],
    bannedExternalImports: ['kysely', 'pg'],
  },
  {
    // A page and what serves it: all else it asks the public API for.
    sourceTag: 'scope:console',
    onlyDependOnLibsWithTags: ['type:contract', 'type:client', 'scope:http'],
    bannedExternalImports: ['kysely', 'pg'],
  },
  {
    sourceTag: 'scope:license-service',
    onlyDependOnLibsWithTags: [
      'scope:http',
      'scope:driver',
      'scope:migrations',
      'scope:outbound',
      'scope:terminal',
    ],
  },
  {
    // It goes into other people's programs.
    sourceTag: 'scope:license-client',
    onlyDependOnLibsWithTags: [],
    bannedExternalImports: ['*'],
  },
];

/** What an app's specs may also import: what it promises is promised to this client. */
const inSpecs = { 'scope:license-service': ['scope:license-client'] };

/** Specs may also use the test world and whatever package helps to test. */
const boundariesInSpecs = boundaries.map(({ sourceTag, onlyDependOnLibsWithTags }) => ({
  sourceTag,
  onlyDependOnLibsWithTags: [...onlyDependOnLibsWithTags, 'type:testing', ...(inSpecs[sourceTag] ?? [])],
}));

const enforceBoundaries = (depConstraints, allow = []) => [
  'error',
  {
    depConstraints,
    allow,
    // A dynamic import is about what a process loads; whoever needs the module at once imports it as usual.
    checkDynamicDependenciesExceptions: ['.*'],
    // The specs of what the test world is made of use that world: a circle of specs, not of products.
    ignoredCircularDependencies: [['tag:type:testing', '!tag:type:testing']],
  },
];

export default defineConfig(
  globalIgnores(['**/dist', '**/node_modules', '**/coverage', '.nx', '.data']),
  {
    files: ['**/*.{ts,tsx}'],
    plugins: { '@nx': nx },
    languageOptions: { parser: tsParser },
    rules: { '@nx/enforce-module-boundaries': enforceBoundaries(boundaries) },
  },
  {
    files: ['**/*.spec.ts', '{apps,libs}/*/test/**/*.ts'],
    rules: { '@nx/enforce-module-boundaries': enforceBoundaries(boundariesInSpecs) },
  },
  {
    // What tools start comes from the package @muster/tools; the folders of one family find each other by path.
    files: ['tools/**/*.ts'],
    rules: {
      '@nx/enforce-module-boundaries': enforceBoundaries(boundaries, ['^(\\.\\./)+(jest|deploy|tour)/']),
    },
  },
  {
    // The dependency graph, and with it `nx affected`, is as honest as these manifests.
    files: ['apps/*/package.json', 'libs/*/package.json'],
    plugins: { '@nx': nx },
    languageOptions: { parser: jsoncParser },
    rules: {
      '@nx/dependency-checks': [
        'error',
        {
          buildTargets: ['typecheck'],
          ignoredFiles: ['{projectRoot}/**/*.spec.ts', '{projectRoot}/test/**/*'],
        },
      ],
    },
  },
);
