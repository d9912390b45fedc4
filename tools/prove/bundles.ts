/** Services as they ship: they start in a third of the time that their sources take. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type AppName } from '../dev/ports.ts';
import { repositoryRoot } from '../dev/repository.ts';
import { type Scope } from './services.ts';

const run = promisify(execFile);

/** Other code for a piece of a bundle, so that what happens without a guard is seen without a switch in the product. */
export interface Alteration {
  readonly find: string;
  readonly put: string;
}

const made = new WeakMap<Scope, Map<AppName, Promise<string>>>();

/** The folder of an app's bundle; all runs share it. */
function findFolder({ home }: Scope, app: AppName): Promise<string> {
  const all = made.get(home) ?? new Map<AppName, Promise<string>>();
  made.set(home, all);
  const folder = all.get(app) ?? bundle(home, app);
  all.set(app, folder);
  return folder;
}

async function makeFolder(scope: Scope): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-prove-bundle-'));
  scope.onStop(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function bundle(home: Scope, app: AppName): Promise<string> {
  const folder = await makeFolder(home);
  const build = path.join(repositoryRoot, 'tools/build/build-app.ts');
  await run(process.execPath, [build, `apps/${app}`, folder], { cwd: repositoryRoot });
  return folder;
}

/** The main file of an app's bundle; an altered one is made anew. Throws if a piece does not stand there once. */
export async function findBundle(
  scope: Scope,
  app: AppName,
  alterations: readonly Alteration[] = [],
): Promise<string> {
  const folder = await findFolder(scope, app);
  if (alterations.length === 0) return path.join(folder, 'main.js');
  const copy = await makeFolder(scope);
  await cp(folder, copy, { recursive: true });
  const main = path.join(copy, 'main.js');
  let text = await readFile(main, 'utf8');
  for (const { find, put } of alterations) {
    const pieces = text.split(find);
    if (pieces.length !== 2) throw new Error(`${app} has ${pieces.length - 1} times:\n  ${find}`);
    text = pieces.join(put);
  }
  await writeFile(main, text);
  return main;
}
