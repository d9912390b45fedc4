import path from 'node:path';
import { defineService, runServices } from '@muster/http';
import { createBuiltSite } from '@muster/http/site';
import { createConsole } from './app.ts';
import { readConfig } from './config.ts';

const builtSiteFolder = path.resolve(import.meta.dirname, '../../../dist/console-site');

export const startService = defineService('console', readConfig, ({ SITE_FOLDER }, logger) =>
  createBuiltSite(SITE_FOLDER, { beside: import.meta.dirname, made: builtSiteFolder }, (folder) =>
    createConsole(folder, logger),
  ),
);

if (import.meta.main) await runServices([startService]);
