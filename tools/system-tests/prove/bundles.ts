/** Services as they ship. A bundle starts in a third of the time that the sources take. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { builtMainFile } from '@muster/testing/bundles';
import { type AppName as Service, repositoryRoot, startThrowAwayApp, type ThrowAwayApp } from '@muster/tools';
import { type GuardRemoval, removalsIn } from './guards.ts';
import { type Scope } from './services.ts';

const run = promisify(execFile);

/** The apps that are bundled: the services and the command line. */
type AppName = Service | 'cli';

/**
 * Returns the main file of an app's bundle. Under `npx nx test` that is the bundle that Nx built. An app
 * without some of its guards gets its own bundle, so that the product needs no switch for them.
 */
export async function findBundle(
  scope: Scope,
  app: AppName,
  removals: readonly GuardRemoval[] = [],
): Promise<string> {
  const alterations = removalsIn('code', removals);
  const built = alterations.length > 0 ? undefined : builtMainFile(app);
  if (built !== undefined) return built;
  const without = JSON.stringify(alterations);
  return scope.share(`${app} without ${without}`, (home) => bundle(home, app, without));
}

async function bundle(scope: Scope, app: AppName, without: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-prove-bundle-'));
  scope.onStop(() => rm(folder, { recursive: true, force: true }));
  const build = path.join(repositoryRoot, 'tools/build/build-app.ts');
  const plugins = path.join(repositoryRoot, 'tools/system-tests/prove/altering.ts');
  await run(process.execPath, [build, `apps/${app}`, folder, ...(without === '[]' ? [] : [plugins])], {
    cwd: repositoryRoot,
    env: { ...process.env, PROVE_WITHOUT: without },
  });
  return path.join(folder, 'main.js');
}

/** The options that the Dockerfile sets. */
const nodeOptions = ['--max-semi-space-size=16'];

export interface AppSetUp {
  readonly environment: Readonly<Record<string, string>>;
  /** The guards that are removed from the app's code. */
  readonly removals?: readonly GuardRemoval[] | undefined;
  /** The port; a free one by default. */
  readonly port?: number | undefined;
}

/** Starts a service as its image does. It stops when the scope ends. */
export async function startApp(
  scope: Scope,
  name: Service,
  { environment, removals, port }: AppSetUp,
): Promise<ThrowAwayApp> {
  const main = await findBundle(scope, name, removals);
  const app = await startThrowAwayApp(name, { main, log: 'warn', nodeOptions, environment, port });
  scope.onStop(() => app.stop());
  return app;
}
