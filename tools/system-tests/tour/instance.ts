import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrate } from '@muster/migrations';
import {
  mailFolder,
  runningInstance,
  startPostgres,
  startRedis,
  startThrowAwayApi,
  startThrowAwayApp,
} from '@muster/tools';

/** An installation of Muster that the tour uses. */
export interface Instance {
  readonly baseUrl: string;
  /** The address of the MCP gateway. */
  readonly mcpUrl: string;
  /** A database address whose login owns the tables. */
  readonly databaseUrl: string;
  readonly description: string;
  /** The folder to which the worker writes mails. */
  readonly mailFolder: string;
  /** The last lines of the API's log, or a line that says where the log is. */
  readonly tail: () => readonly string[];
  readonly stop: () => Promise<void>;
}

/** Returns the instance of `npm start`, or starts a temporary one if none is running here. */
export async function findInstance(): Promise<Instance> {
  const { baseUrl, mcpUrl, workerUrl, databaseUrl = '' } = runningInstance() ?? {};
  if (baseUrl == null || mcpUrl == null || workerUrl == null) return startInstance();
  return {
    ...{ baseUrl, mcpUrl, databaseUrl, mailFolder, description: 'the instance that runs here' },
    tail: () => ['its log is .data/logs/coordination-api.log'],
    stop: () => Promise.resolve(),
  };
}

/** Starts an instance that leaves nothing behind. */
export async function startInstance(): Promise<Instance> {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-tour-'));
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const stopOne of stops.toReversed()) await stopOne();
  };
  const stopLater = <Started extends { stop(): Promise<unknown> }>(started: Started): Started => {
    stops.push(() => started.stop());
    return started;
  };
  try {
    const { url: databaseUrl } = stopLater(await startPostgres({ durable: false }));
    await migrate(databaseUrl);
    const redis = stopLater(await startRedis({ durable: false }));
    const api = stopLater(await startThrowAwayApi({ databaseUrl, log: 'warn' }));
    const mails = path.join(folder, 'mail');
    const start = async (name: 'delivery-worker' | 'mcp-gateway', environment: Record<string, string>) =>
      stopLater(await startThrowAwayApp(name, { log: 'warn', environment }));
    await start('delivery-worker', {
      ...{ DATABASE_URL: databaseUrl, REDIS_URL: redis.url, BASE_URL: api.url, MAIL_FOLDER: mails },
    });
    const gateway = await start('mcp-gateway', { COORDINATION_API_URL: api.url });
    return {
      ...{ baseUrl: api.url, mcpUrl: `${gateway.url}/api/mcp`, databaseUrl, mailFolder: mails },
      description: 'started for this run, because no instance is running here',
      ...{ tail: api.tail, stop },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
