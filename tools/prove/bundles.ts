/** Services as they ship: they start in a third of the time that their sources take. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { builtMain } from '@muster/testing/bundles';
import { type AppName as Service, repositoryRoot, startThrowAwayApp, type ThrowAwayApp } from '@muster/tools';
import { type Removal, removalsIn } from './guards.ts';
import { type Scope } from './services.ts';

const run = promisify(execFile);

/** What is bundled: services, and the command line. */
type AppName = Service | 'cli';

/**
 * The main file of an app's bundle, by `npx nx test` the one that Nx made. Without some of the guards in its code it is
 * another bundle, so that no switch for them is in the product.
 */
export async function findBundle(
  scope: Scope,
  app: AppName,
  removals: readonly Removal[] = [],
): Promise<string> {
  const alterations = removalsIn('code', removals);
  const built = alterations.length > 0 ? undefined : builtMain(app);
  if (built !== undefined) return built;
  const without = JSON.stringify(alterations);
  return scope.share(`${app} without ${without}`, (home) => bundle(home, app, without));
}

async function bundle(scope: Scope, app: AppName, without: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-prove-bundle-'));
  scope.onStop(() => rm(folder, { recursive: true, force: true }));
  const build = path.join(repositoryRoot, 'tools/build/build-app.ts');
  const plugins = path.join(repositoryRoot, 'tools/prove/altering.ts');
  await run(process.execPath, [build, `apps/${app}`, folder, ...(without === '[]' ? [] : [plugins])], {
    cwd: repositoryRoot,
    env: { ...process.env, PROVE_WITHOUT: without },
  });
  return path.join(folder, 'main.js');
}

/** As the Dockerfile has it. */
const nodeOptions = ['--max-semi-space-size=16'];

export interface AppSetUp {
  readonly environment: Readonly<Record<string, string>>;
  /** Guards that its code is without. */
  readonly removals?: readonly Removal[] | undefined;
  /** A free one unless told. */
  readonly port?: number | undefined;
}

/** A service as its image starts it, until the scope ends. */
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
