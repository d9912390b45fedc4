import { afterAll, beforeAll, expect, it } from '@jest/globals';
import path from 'node:path';
import { servicesOf } from './services-of.ts';
import { createTrialWorkspace, type TrialWorkspace } from './trial-workspace.ts';

const manifest = (dependencies: Record<string, string>, devDependencies = {}): string =>
  JSON.stringify({ dependencies, devDependencies });

let workspace: TrialWorkspace;

beforeAll(async () => {
  workspace = await createTrialWorkspace({
    realProjects: false,
    files: {
      'libs/contract/package.json': manifest({ zod: '4.6.7' }),
      'libs/storage/package.json': manifest(
        { '@muster/contract': '0.0.0', pg: '8.23.1' },
        { '@muster/world': '0.0.0' },
      ),
      'libs/world/package.json': manifest({ '@muster/storage': '0.0.0' }),
      'libs/tested-in-world/package.json': manifest({}, { '@muster/world': '0.0.0' }),
      'tools/project.json': JSON.stringify({ implicitDependencies: ['@muster/storage', 'tools-other'] }),
      'apps/front/package.json': manifest({ '@muster/storage': '0.0.0', ioredis: '6.0.0' }),
    },
  });
});
afterAll(() => workspace.remove());

it.each([
  { project: 'libs/contract', services: [] },
  { project: 'libs/storage', services: ['postgres'] },
  { project: 'libs/tested-in-world', services: ['postgres'] },
  { project: 'apps/front', services: ['postgres', 'redis'] },
  { project: 'tools', services: ['postgres'] },
  { project: 'tools/other', services: [] },
])('$project reaches $services', async ({ project, services }) => {
  const found = await servicesOf(workspace.root, path.join(workspace.root, project));
  expect([...found].sort()).toEqual(services);
});
