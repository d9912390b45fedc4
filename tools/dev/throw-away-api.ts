import { createInterface } from 'node:readline';
import { freePort } from './ports.ts';
import { untilReady } from './readiness.ts';
import { repositoryRoot } from './repository.ts';
import { startServiceProcess, type ServiceProcess } from './service-process.ts';

/** A coordination-api of our own, which ends with this process. */
export interface ThrowAwayApi extends ServiceProcess {
  readonly url: string;
  /** From the start of the process to the first yes of /readyz. */
  readonly startMillis: number;
  /** The last lines it wrote; of an API that logs nothing but what went wrong. */
  readonly tail: () => readonly string[];
}

export interface ThrowAwayApiOptions {
  readonly databaseUrl: string;
  /** The main file of a bundle; the sources unless told. */
  readonly main?: string;
  /** `info` writes a line for each call as in production, to nowhere; `warn` keeps what went wrong for `tail`. */
  readonly log: 'info' | 'warn';
  readonly environment?: Readonly<Record<string, string>>;
}

const sources = 'apps/coordination-api/src/main.ts';
const TAIL_LINES = 40;

/** Starts coordination-api on a migrated database and a free port, and returns once it is ready. */
export async function startThrowAwayApi(options: ThrowAwayApiOptions): Promise<ThrowAwayApi> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const started = performance.now();
  const { child, service } = await startServiceProcess(
    process.execPath,
    options.main === undefined ? ['--enable-source-maps', sources] : [options.main],
    {
      cwd: repositoryRoot,
      env: {
        PATH: process.env['PATH'],
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        PORT: port.toString(),
        LOG_LEVEL: options.log,
        DATABASE_URL: options.databaseUrl,
        ...options.environment,
      },
      stdio: ['ignore', options.log === 'info' ? 'ignore' : 'pipe', 'pipe'],
      stopSignal: 'TERM',
      graceSeconds: 25,
    },
  );
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      if (lines.length > TAIL_LINES) lines.shift();
    });
  }
  try {
    await untilReady('coordination-api', url, service);
  } catch (error) {
    await service.stop();
    throw new Error(`${(error as Error).message}; it said:\n${lines.join('\n')}`, { cause: error });
  }
  return { ...service, url, startMillis: performance.now() - started, tail: () => lines };
}
