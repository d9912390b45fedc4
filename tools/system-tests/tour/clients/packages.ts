/** Packages that only `npm run clients` needs. They have a lockfile of their own, and are installed by it. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { dataFolder } from '@muster/tools';
import manifest from './packages/package.json' with { type: 'json' };

export const packages = manifest.dependencies;

export const clientsFolder = path.join(dataFolder, 'clients');

/** Installs the packages, unless they are there, without running their install scripts. */
export async function installClients(): Promise<void> {
  const source = path.join(import.meta.dirname, 'packages');
  const lockOf = (folder: string): Promise<string> =>
    readFile(path.join(folder, 'package-lock.json'), 'utf8');
  const completed = path.join(clientsFolder, 'node_modules/.package-lock.json');
  if (existsSync(completed) && (await lockOf(source)) === (await lockOf(clientsFolder))) return;
  await rm(completed, { force: true });
  await cp(source, clientsFolder, { recursive: true });
  // `npm ci` would refuse the lockfile, because registries lack some optional packages of other systems.
  await promisify(execFile)('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: clientsFolder,
    timeout: 600_000,
  });
}
