import { defineService, runServices } from '@muster/http';
import { createGateway } from './app.ts';
import { readConfig } from './config.ts';

export const startService = defineService('mcp-gateway', readConfig, async (config, logger) => {
  const { httpService: service, close } = await createGateway(config, logger);
  return { service, close };
});

if (import.meta.main) await runServices([startService]);
