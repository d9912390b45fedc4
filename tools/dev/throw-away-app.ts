import { createInterface } from 'node:readline';
import { mapToSources, bundleFileOf } from '@muster/testing/bundles';
import { findFreePort } from '@muster/testing/ports';
import { type AppName } from './ports.ts';
import { untilReady } from './readiness.ts';
import { repositoryRoot } from './repository.ts';
import { startServiceProcess, type ServiceProcess } from './service-process.ts';

/** A temporary app, which ends with this process. */
export interface ThrowAwayApp extends ServiceProcess {
  readonly url: string;
  readonly port: number;
  /** The address of /metrics. */
  readonly metricsUrl: string;
  /** The time from the start of the process to the first success of /readyz, in milliseconds. */
  readonly startMillis: number;
  /** Returns the last lines of output. For an app with the log level `warn` these are its problems only. */
  readonly tail: () => readonly string[];
}

export interface ThrowAwayAppOptions {
  /**
   * The file to start. The default is the bundle that Nx built for the current specs, or the sources if it
   * built none.
   */
  readonly main?: string;
  /**
   * `info` formats a line for each call as in production, and discards it. `warn` keeps problems for `tail`.
   */
  readonly log: 'info' | 'warn';
  readonly environment: Readonly<Record<string, string>>;
  /** The port. The default is a free one. */
  readonly port?: number | undefined;
  /** Receives each line of output. */
  readonly onLine?: (line: string) => void;
  /** Options for Node itself, before the main file. */
  readonly nodeOptions?: readonly string[];
}

const TAIL_LINES = 40;

export const sourcesOf = (name: AppName): string => `apps/${name}/src/main.ts`;

/** Starts an app, and returns once it is ready. The services that it needs must be up. */
export async function startThrowAwayApp(name: AppName, options: ThrowAwayAppOptions): Promise<ThrowAwayApp> {
  for (;;) {
    try {
      return await startOn(options.port ?? (await findFreePort()), name, options);
    } catch (error) {
      // Another process has taken the free port before the app listened on it.
      if (options.port !== undefined || !(error as Error).message.includes('EADDRINUSE')) throw error;
    }
  }
}

async function startOn(port: number, name: AppName, options: ThrowAwayAppOptions): Promise<ThrowAwayApp> {
  const url = `http://127.0.0.1:${port}`;
  const metricsPort = await findFreePort();
  const main = options.main ?? bundleFileOf(sourcesOf(name));
  const started = performance.now();
  const { child, service } = await startServiceProcess(
    process.execPath,
    [...(options.nodeOptions ?? []), main],
    {
      cwd: repositoryRoot,
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        PORT: port.toString(),
        METRICS_PORT: metricsPort.toString(),
        LOG_LEVEL: options.log,
        ...options.environment,
      },
      stdio: ['ignore', options.log === 'info' && options.onLine === undefined ? 'ignore' : 'pipe', 'pipe'],
      stopSignal: 'TERM',
      graceSeconds: 25,
    },
  );
  const lines: string[] = [];
  const tail = (): string[] => lines.map(mapToSources);
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      options.onLine?.(line);
      if (lines.length > TAIL_LINES) lines.shift();
    });
  }
  try {
    await untilReady(name, url, service);
  } catch (error) {
    await service.stop();
    throw new Error(`${(error as Error).message}; it said:\n${tail().join('\n')}`, { cause: error });
  }
  return {
    ...{ ...service, url, port, metricsUrl: `http://127.0.0.1:${metricsPort}` },
    ...{ startMillis: performance.now() - started, tail },
  };
}
