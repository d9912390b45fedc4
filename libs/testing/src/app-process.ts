/**
 * Runs an app as a separate process, for specs of apps that call it. An app never imports another, and
 * neither do its specs.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { mapToSources, bundleFileOf } from './bundles.ts';
import { programEnvironment } from './environment.ts';

const workspaceRoot = path.resolve(import.meta.dirname, '../../..');

export interface AppProcess {
  /** The address at which it listens. */
  readonly url: string;
  /** Ends the process. Does nothing if it has ended. */
  stop(): Promise<void>;
  /** Ends the process immediately, without a chance to finish its work. */
  kill(): Promise<void>;
}

/**
 * Starts an app, named by the main file of its sources. Returns once it listens, on a free port unless the
 * environment names one.
 */
export async function startApp(
  mainFile: string,
  environment: Readonly<Record<string, string>>,
): Promise<AppProcess> {
  const app = spawn(process.execPath, [bundleFileOf(mainFile)], {
    cwd: workspaceRoot,
    env: {
      ...programEnvironment(),
      HOST: '127.0.0.1',
      PORT: '0',
      METRICS_PORT: '0',
      LOG_LEVEL: 'info',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  createInterface({ input: app.stderr }).on('line', (line) =>
    process.stderr.write(`${mapToSources(line)}\n`),
  );
  const url = await new Promise<string>((resolve, reject) => {
    // Reads the pipe to its end, so that it never fills up.
    createInterface({ input: app.stdout }).on('line', (line) => {
      const { msg, address } = JSON.parse(line) as { msg: string; address?: string };
      if (msg === 'listening') resolve(address ?? '');
    });
    app.once('exit', (code) => {
      reject(new Error(`${mainFile} ended with ${String(code)} before it listened`));
    });
  });
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    if (app.exitCode !== null || app.signalCode !== null) return;
    const ended = once(app, 'exit');
    app.kill(signal);
    await ended;
  };
  return { url, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}
