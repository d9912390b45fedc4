// Finds the servers that the tests of a project need: those whose drivers it can reach.
// A project declares them once, in the dependencies of its package.json, which lint compares with its
// imports. tools/ is not a package and declares them to Nx.
import path from 'node:path';
import { readJson } from './read-json.ts';

export type RequiredService = 'postgres' | 'redis';

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

const serviceOfDriver: ReadonlyMap<string, RequiredService> = new Map([
  ['pg', 'postgres'],
  ['ioredis', 'redis'],
]);

/**
 * Returns the services that the project in `projectRoot` reaches, itself or through other projects of the
 * workspace.
 */
export async function servicesOf(workspaceRoot: string, projectRoot: string): Promise<Set<RequiredService>> {
  const services = new Set<RequiredService>();
  const seen = new Set<string>();
  const manifestOf = (name: string): string => path.join(workspaceRoot, 'node_modules', name, 'package.json');
  const pending = [path.join(projectRoot, 'package.json'), ...(await namedToNx(projectRoot)).map(manifestOf)];
  for (const file of pending) {
    if (seen.has(file)) continue;
    seen.add(file);
    const manifest = ((await readJson(file)) ?? {}) as Manifest;
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })) {
      const service = serviceOfDriver.get(name);
      if (service !== undefined) services.add(service);
      if (name.startsWith('@muster/')) pending.push(manifestOf(name));
    }
  }
  return services;
}

/** Lists the packages that a project's specs start as programs without importing them. */
async function namedToNx(projectRoot: string): Promise<string[]> {
  const project = (await readJson(path.join(projectRoot, 'project.json'))) as
    | { implicitDependencies?: string[] }
    | undefined;
  const { implicitDependencies = [] } = project ?? {};
  return implicitDependencies.filter((name) => name.startsWith('@muster/'));
}
