/** Starts all services as separate processes, for specs that observe them from outside. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findFreePort } from '@muster/testing/ports';
import { type AppName, sourcesOf, startThrowAwayApp, type ThrowAwayApp } from '@muster/tools';
import { type Environment } from '../apps.ts';

/** Docs and console are left out. They serve built pages and export no metrics of their own. */
export const watchedApps = [
  'coordination-api',
  'mcp-gateway',
  'delivery-worker',
  'license-service',
  'sign-in',
] as const satisfies readonly AppName[];
export type WatchedApp = (typeof watchedApps)[number];

export interface MonitoredOptions {
  /** The address of a migrated database, with the login that owns it. */
  readonly databaseUrl: string;
  /** A Redis that no other installation uses, because the queues of two installations have equal names. */
  readonly redisUrl: string;
  /** Variables for all services. */
  readonly environment?: Environment;
  readonly onLine?: (app: WatchedApp, line: string) => void;
  /** Starts the services from their sources instead of bundles, with the given options for Node. */
  readonly ofSources?: { readonly nodeOptions: readonly string[] };
}

export interface Monitored {
  readonly apps: Readonly<Record<WatchedApp, ThrowAwayApp>>;
  stop(): Promise<void>;
}

/** Starts the services, and returns when all are ready. */
export async function startInstallation(options: MonitoredOptions): Promise<Monitored> {
  const { databaseUrl, redisUrl, environment = {}, onLine, ofSources } = options;
  const mailFolder = await mkdtemp(path.join(tmpdir(), 'muster-mail-'));
  const started: ThrowAwayApp[] = [];
  const stop = async (): Promise<void> => {
    // Stops callers before the services that they call.
    for (const app of started.toReversed()) await app.stop();
    await rm(mailFolder, { recursive: true, force: true });
  };
  const start = async (name: WatchedApp, own: Environment, port?: number): Promise<ThrowAwayApp> => {
    const app = await startThrowAwayApp(name, {
      log: onLine === undefined ? 'warn' : 'info',
      environment: { ...environment, ...own },
      ...(port !== undefined && { port }),
      ...(ofSources !== undefined && { main: sourcesOf(name), ...ofSources }),
      ...(onLine !== undefined && {
        onLine: (line) => {
          onLine(name, line);
        },
      }),
    });
    started.push(app);
    return app;
  };
  try {
    const gatewayPort = await findFreePort();
    const starting = [
      start('coordination-api', {
        ...{ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
        MCP_GATEWAY_URL: `http://127.0.0.1:${gatewayPort}`,
      }),
      start('delivery-worker', {
        ...{ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
        ...{ BASE_URL: 'https://muster.example', MAIL_FOLDER: mailFolder },
      }),
      start('license-service', { DATABASE_URL: databaseUrl }),
      start('sign-in', {
        ...{ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
        ...{ BASE_URL: 'https://muster.example', MAIL_FOLDER: mailFolder },
      }),
    ] as const;
    // Waits until every start has succeeded or failed, so that all started services are stopped if one start
    // fails.
    await Promise.allSettled(starting);
    const [api, worker, licenses, signIn] = await Promise.all(starting);
    const gateway = await start('mcp-gateway', { COORDINATION_API_URL: api.url }, gatewayPort);
    return {
      apps: {
        ...{ 'coordination-api': api, 'mcp-gateway': gateway },
        ...{ 'delivery-worker': worker, 'license-service': licenses, 'sign-in': signIn },
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
