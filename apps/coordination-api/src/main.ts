import { defineService, runServices } from '@muster/http';
import { createApp } from './app.ts';
import { readConfig } from './config.ts';

export const startService = defineService('coordination-api', readConfig, createApp);

if (import.meta.main) await runServices([startService]);
