// Checks the project graph: the imports between projects, and the dependencies that a manifest names. oxlint
// checks everything else (.oxlintrc.json). oxlint can use types and is ten times as fast.
import { createProjectGraphAsync, readCachedProjectGraph } from '@nx/devkit';
import nx from '@nx/eslint-plugin';
import * as tsParser from '@typescript-eslint/parser';
import { defineConfig, globalIgnores } from 'eslint/config';
import jsoncParser from 'jsonc-eslint-parser';

// Without a project graph Nx's rules skip themselves with only a warning. Nx creates a graph before its
// tasks. For an editor or a bare `eslint` it is created here, and lint fails if that fails.
if (process.env.NX_TASK_TARGET_PROJECT === undefined) await createProjectGraphAsync();
readCachedProjectGraph();

/** Allowed imports between projects. A project follows every rule whose tag it has. */
const boundaries = [
  {
    sourceTag: 'type:contract',
    onlyDependOnLibsWithTags: ['type:contract'],
    allowedExternalImports: ['zod'],
  },
  {
    // The operations of one domain. It imports no other domain's, so that a change affects few projects.
    sourceTag: 'type:domain-registry',
    onlyDependOnLibsWithTags: ['type:contract'],
    allowedExternalImports: ['zod'],
  },
  {
    // Names every operation. A project that needs only records and building blocks imports the contract, and
    // one that needs the operations of a domain imports that domain's registry.
    sourceTag: 'type:registry',
    onlyDependOnLibsWithTags: ['type:contract', 'type:domain-registry', 'type:registry'],
    allowedExternalImports: ['zod'],
  },
  {
    sourceTag: 'type:platform',
    onlyDependOnLibsWithTags: ['type:contract', 'type:platform'],
  },
  // Database libraries form layers: driver and migrations at the bottom, placement above them, and tenancy on
  // top.
  { sourceTag: 'scope:driver', onlyDependOnLibsWithTags: ['type:contract', 'scope:tracing'] },
  { sourceTag: 'scope:migrations', onlyDependOnLibsWithTags: ['type:contract'] },
  {
    sourceTag: 'scope:placement',
    onlyDependOnLibsWithTags: ['type:contract', 'scope:driver', 'scope:migrations'],
  },
  {
    // Domains interact through events and jobs, never by import. They all may import organizations.
    sourceTag: 'type:domain',
    onlyDependOnLibsWithTags: [
      'type:contract',
      'type:domain-registry',
      'type:platform',
      'scope:organizations',
    ],
    bannedExternalImports: ['fastify', '@fastify/*', 'bullmq', 'ioredis', '@modelcontextprotocol/*'],
  },
  {
    // Combines all domains and contains nothing else.
    sourceTag: 'type:composition',
    onlyDependOnLibsWithTags: ['type:contract', 'type:registry', 'type:platform', 'type:domain'],
    bannedExternalImports: ['*'],
  },
  {
    sourceTag: 'type:client',
    onlyDependOnLibsWithTags: ['type:contract', 'type:domain-registry', 'type:registry', 'scope:client-core'],
  },
  {
    // Names no operation: otherwise a change of one would affect the specs of every library.
    sourceTag: 'type:testing',
    onlyDependOnLibsWithTags: ['type:contract', 'type:platform', 'scope:client-core', 'type:testing'],
  },
  {
    // Tools may import board and delivery, because diagrams are drawn from their tables.
    sourceTag: 'type:tools',
    onlyDependOnLibsWithTags: [
      'type:contract',
      'type:registry',
      'type:platform',
      'type:client',
      'scope:organizations',
      'scope:board',
      'scope:delivery',
      // Some proofs call operations without HTTP.
      'type:composition',
      // Proofs send the requests that specs send.
      'type:testing',
      // The package that starts servers, databases and apps for tools.
      'scope:tools',
    ],
  },
  {
    sourceTag: 'type:app',
    onlyDependOnLibsWithTags: [
      'type:contract',
      'type:domain-registry',
      'type:registry',
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
    // The gateway reaches the product only over HTTP.
    sourceTag: 'scope:mcp-gateway',
    onlyDependOnLibsWithTags: ['type:contract', 'type:registry', 'type:client', 'scope:http'],
    bannedExternalImports: ['kysely', 'pg'],
  },
  {
    // The console's pages and their server use only the public API.
    sourceTag: 'scope:console',
    onlyDependOnLibsWithTags: ['type:contract', 'type:registry', 'type:client', 'scope:http'],
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
    // This library becomes a part of customers' programs.
    sourceTag: 'scope:license-client',
    onlyDependOnLibsWithTags: [],
    bannedExternalImports: ['*'],
  },
];

/**
 * Projects that an app's specs may import in addition. The license service's promises are tested with its
 * client.
 */
const inSpecs = { 'scope:license-service': ['scope:license-client'] };

/** Specs may also use libs/testing and any package for tests. */
const boundariesInSpecs = boundaries.map(({ sourceTag, onlyDependOnLibsWithTags }) => ({
  sourceTag,
  onlyDependOnLibsWithTags: [...onlyDependOnLibsWithTags, 'type:testing', ...(inSpecs[sourceTag] ?? [])],
}));

const enforceBoundaries = (depConstraints, allow = []) => [
  'error',
  {
    depConstraints,
    allow,
    // A dynamic import decides when a process loads a module. It does not create a dependency that a static
    // import would not create.
    checkDynamicDependenciesExceptions: ['.*'],
    // The specs of libraries on which libs/testing is built use libs/testing. This is a cycle of specs, not
    // of products.
    ignoredCircularDependencies: [['tag:type:testing', '!tag:type:testing']],
  },
];

export default defineConfig(
  globalIgnores(['**/dist', '**/node_modules', '**/coverage', '**/.vitepress/.temp', '.nx', '.data']),
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
    // Tools import servers and apps from the package @muster/tools. Related folders import each other by
    // path.
    files: ['tools/**/*.ts'],
    rules: {
      '@nx/enforce-module-boundaries': enforceBoundaries(boundaries, ['^(\\.\\./)+(jest|deploy)/']),
    },
  },
  {
    // The dependency graph and `nx affected` are only correct if these manifests are.
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
