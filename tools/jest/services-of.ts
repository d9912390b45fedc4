// Which servers the tests of a project need: those whose drivers it can reach. So a project says it once, in the
// dependencies of its package.json, which lint holds against its imports.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

export type Service = 'postgres' | 'redis';

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

const serviceOfDriver: ReadonlyMap<string, Service> = new Map([
  ['pg', 'postgres'],
  ['ioredis', 'redis'],
]);

/** The services that the project in `projectRoot` reaches, itself or through other projects of the workspace. */
export async function servicesOf(workspaceRoot: string, projectRoot: string): Promise<Set<Service>> {
  const services = new Set<Service>();
  const seen = new Set<string>();
  const pending = [path.join(projectRoot, 'package.json')];
  for (const file of pending) {
    if (seen.has(file)) continue;
    seen.add(file);
    const manifest = await readManifest(file);
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })) {
      const service = serviceOfDriver.get(name);
      if (service !== undefined) services.add(service);
      if (name.startsWith('@muster/')) {
        pending.push(path.join(workspaceRoot, 'node_modules', name, 'package.json'));
      }
    }
  }
  return services;
}

/** tools/ is no package: it has no manifest, and its tests start what they need themselves. */
async function readManifest(file: string): Promise<Manifest> {
  return existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as Manifest) : {};
}
