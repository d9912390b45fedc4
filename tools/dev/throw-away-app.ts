import { createInterface } from 'node:readline';
import { inSources, programOf } from '@muster/testing/bundles';
import { freePort } from '@muster/testing/ports';
import { type AppName } from './ports.ts';
import { untilReady } from './readiness.ts';
import { repositoryRoot } from './repository.ts';
import { startServiceProcess, type ServiceProcess } from './service-process.ts';

/** An app of our own, which ends with this process. */
export interface ThrowAwayApp extends ServiceProcess {
  readonly url: string;
  readonly port: number;
  /** Where /metrics is. */
  readonly metricsUrl: string;
  /** From the start of the process to the first yes of /readyz. */
  readonly startMillis: number;
  /** The last lines it wrote; of an app that logs nothing but what went wrong. */
  readonly tail: () => readonly string[];
}

export interface ThrowAwayAppOptions {
  /** The file to start; unless told, the bundle that Nx made for the specs that run, or the sources where it made none. */
  readonly main?: string;
  /** `info` writes a line for each call as in production, to nowhere; `warn` keeps what went wrong for `tail`. */
  readonly log: 'info' | 'warn';
  readonly environment: Readonly<Record<string, string>>;
  /** A free one unless told. */
  readonly port?: number | undefined;
  /** Told of each line that it writes. */
  readonly onLine?: (line: string) => void;
  /** For Node itself, before the main file. */
  readonly nodeOptions?: readonly string[];
}

const TAIL_LINES = 40;

export const sourcesOf = (name: AppName): string => `apps/${name}/src/main.ts`;

/** Starts an app, and returns once it is ready. What it stands on is up. */
export async function startThrowAwayApp(name: AppName, options: ThrowAwayAppOptions): Promise<ThrowAwayApp> {
  for (;;) {
    try {
      return await startOn(options.port ?? (await freePort()), name, options);
    } catch (error) {
      // Another has taken the free port before the app listened on it.
      if (options.port !== undefined || !(error as Error).message.includes('EADDRINUSE')) throw error;
    }
  }
}

async function startOn(port: number, name: AppName, options: ThrowAwayAppOptions): Promise<ThrowAwayApp> {
  const url = `http://127.0.0.1:${port}`;
  const metricsPort = await freePort();
  const main = options.main ?? programOf(sourcesOf(name));
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
  const tail = (): string[] => lines.map(inSources);
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
