/** Runs all apps in one process, which needs a third of the memory of one process each. `npm start` starts it. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { runServices, type StartService } from '@muster/http';
import { environmentOf, findApps } from './apps.ts';
import { repositoryRoot } from './repository.ts';

await runServices(
  findApps(process.env).map((app) => async (onCreated) => {
    try {
      const file = pathToFileURL(path.join(repositoryRoot, app.main)).href;
      const { startService } = (await import(file)) as { readonly startService: StartService };
      await startService(onCreated, environmentOf(app, process.env));
    } catch (error) {
      if (app.isNeeded) throw error;
      process.stderr.write(`${app.name}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }),
);
