import { defineService, runServices } from '@muster/http';
import { createLicenseService } from './app.ts';
import { readConfig } from './config.ts';

export const startService = defineService('license-service', readConfig, createLicenseService);

if (import.meta.main) await runServices([startService]);
