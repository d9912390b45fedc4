import { defineService, runServices } from '@muster/http';
import { createBuiltSite } from '@muster/http/site';
import { createDocsService } from './app.ts';
import { readConfig } from './config.ts';
import { builtSiteFolder } from './made-site.ts';

export const startService = defineService('docs', readConfig, ({ SITE_FOLDER }, logger) =>
  createBuiltSite(SITE_FOLDER, { beside: import.meta.dirname, made: builtSiteFolder }, (folder) =>
    createDocsService(folder, logger),
  ),
);

if (import.meta.main) await runServices([startService]);
