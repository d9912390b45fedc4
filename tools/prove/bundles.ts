/** Services as they ship: they start in a third of the time that their sources take. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { builtMain } from '@muster/testing/bundles';
import { type AppName as Service } from '../dev/ports.ts';
import { repositoryRoot } from '../dev/repository.ts';
import { type Removal } from './guards.ts';
import { type Scope } from './services.ts';

const run = promisify(execFile);

/** Another line of code in place of a guard, so that what happens without it is seen without a switch in the product. */
export type Alteration = Removal<string>;

/** What is bundled: services, and the command line. */
type AppName = Service | 'cli';

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

/** Makes a bundle of the source, without some of its guards. */
async function bundle(scope: Scope, app: AppName, alterations: readonly Alteration[] = []): Promise<string> {
  const folder = await makeFolder(scope);
  const build = path.join(repositoryRoot, 'tools/build/build-app.ts');
  const plugins = path.join(repositoryRoot, 'tools/prove/altering.ts');
  await run(process.execPath, [build, `apps/${app}`, folder, ...(alterations.length > 0 ? [plugins] : [])], {
    cwd: repositoryRoot,
    env: { ...process.env, PROVE_WITHOUT: JSON.stringify(alterations) },
  });
  return folder;
}

/** The main file of an app's bundle, by `npx nx test` the one that Nx made; one without some guards is made anew. */
export async function findBundle(
  scope: Scope,
  app: AppName,
  alterations: readonly Alteration[] = [],
): Promise<string> {
  if (alterations.length > 0) return path.join(await bundle(scope, app, alterations), 'main.js');
  return builtMain(app) ?? path.join(await findFolder(scope, app), 'main.js');
}
