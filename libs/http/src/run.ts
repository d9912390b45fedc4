/** Starts and stops a service as a process. */
import { setTimeout as pause } from 'node:timers/promises';
import { stopTracing } from '@muster/tracing';
import { type Logger } from 'pino';
import { type CommonConfig, ConfigError } from './config.ts';
import { createLogger } from './logging.ts';
import { type Service } from './service.ts';
import { beginTracing } from './tracing.ts';

/** The lowest version of Node that runs the sources and the database library unchanged. */
const minNodeVersion = [24, 11] as const;

/** The time limit for stopping, after the notice, in milliseconds. Work that still runs then is cut off. */
export const stopTimeoutMillis = 20_000;

export function requireNode(version: string = process.versions.node): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < minNodeVersion[0] || (major === minNodeVersion[0] && minor < minNodeVersion[1]))
    throw new ConfigError(
      `Node ${minNodeVersion.join('.')} or newer is required, and this is ${version}; see .node-version`,
    );
}

/** A service as it was created from its configuration. */
export interface CreatedService {
  readonly service: Service;
  /** Begins the work besides answering calls, once the service listens. */
  readonly start?: () => Promise<void>;
  /** Ends that work and releases connections, after the last call was answered. */
  readonly close?: () => Promise<void>;
}

interface RunningService extends CreatedService {
  readonly logger: Logger;
  /**
   * The delay between the loss of readiness and the last accepted connection, so that a load balancer notices
   * it.
   */
  readonly noticeMillis: number;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Starts a service. Reports it as soon as it has to be stopped with the process. */
export type StartService = (
  onCreated: (service: RunningService) => void,
  variables?: Variables,
) => Promise<void>;

/** Defines how a service starts from environment variables, by default those of the process. */
export const defineService =
  <Config extends CommonConfig>(
    name: string,
    readConfig: (variables: Variables) => Config,
    create: (config: Config, logger: Logger) => CreatedService | Promise<CreatedService>,
  ): StartService =>
  async (onCreated, variables = process.env) => {
    const config = readConfig(variables);
    await beginTracing(name, config);
    const logger = createLogger(name, config.LOG_LEVEL);
    const created = await create(config, logger);
    onCreated({ ...created, logger, noticeMillis: config.DRAIN_NOTICE_MILLIS });
    logger.info(await created.service.listen(config), 'listening');
    await created.start?.();
  };

/**
 * Runs services in this process until it gets SIGTERM or SIGINT. An invalid configuration ends the process with only
 * its message.
 */
export async function runServices(starts: readonly StartService[]): Promise<void> {
  try {
    requireNode();
    const running: RunningService[] = [];
    stopOnSignal(running);
    await Promise.all(starts.map((start) => start((service) => void running.push(service))));
  } catch (error) {
    process.stderr.write(
      `${error instanceof ConfigError ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(1);
  }
}

function stopOnSignal(running: readonly RunningService[]): void {
  let stopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    const noticeMillis = Math.max(0, ...running.map((service) => service.noticeMillis));
    setTimeout(() => process.exit(1), stopTimeoutMillis + noticeMillis).unref();
    const stopped = await Promise.allSettled(running.map((service) => stopService(service, signal)));
    await stopTracing();
    process.exit(stopped.some(({ status }) => status === 'rejected') ? 1 : 0);
  };
  process.once('SIGTERM', () => void stop('SIGTERM'));
  process.once('SIGINT', () => void stop('SIGINT'));
}

/** Ends the readiness of a service, waits for the notice, finishes its calls, and cleans up. */
async function stopService(
  { service, logger, noticeMillis, close }: RunningService,
  signal: string,
): Promise<void> {
  logger.info({ signal }, 'stopping');
  // guard: the balancer is told
  service.drain();
  if (noticeMillis > 0) await pause(noticeMillis);
  try {
    // guard: calls are let finish
    await service.stop();
    await close?.();
    logger.info('stopped');
  } catch (error) {
    logger.error({ err: error }, 'could not stop');
    throw error;
  } finally {
    await new Promise((resolve) => {
      logger.flush(resolve);
    });
  }
}
