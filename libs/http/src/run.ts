/** Starts and stops a service as a process. */
import { setTimeout as pause } from 'node:timers/promises';
import { stopTracing } from '@muster/tracing';
import { type Logger } from 'pino';
import { ConfigError } from './config.ts';
import { type Service } from './service.ts';

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

/** Runs `start`. An invalid configuration ends the process with only its message. */
export async function main(start: () => Promise<void>): Promise<void> {
  try {
    requireNode();
    await start();
  } catch (error) {
    process.stderr.write(
      `${error instanceof ConfigError ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(1);
  }
}

interface GracefulStopOptions {
  readonly service: Service;
  readonly logger: Logger;
  /**
   * The delay between the loss of readiness and the last accepted connection, so that a load balancer notices
   * it.
   */
  readonly noticeMillis: number;
  readonly cleanUp: () => Promise<void>;
}

/** Stops the service on SIGTERM or SIGINT: ends readiness, waits for the notice, drains, cleans up, exits. */
export function stopOnSignal({ service, logger, noticeMillis, cleanUp }: GracefulStopOptions): void {
  let stopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), stopTimeoutMillis + noticeMillis).unref();
    // guard: the balancer is told
    service.drain();
    if (noticeMillis > 0) await pause(noticeMillis);
    // guard: calls are let finish
    await service.stop();
    await cleanUp();
    await stopTracing();
    logger.info('stopped');
    logger.flush(() => process.exit(0));
  };
  process.once('SIGTERM', () => void stop('SIGTERM'));
  process.once('SIGINT', () => void stop('SIGINT'));
}
