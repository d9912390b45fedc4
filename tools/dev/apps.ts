import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openAppLog } from './app-log.ts';
import { commandLineOf, endProcess } from './foreign-process.ts';
import { keepRunning, type RestartedProcess } from './keep-running.ts';
import { metricsPortOf, portOfApp, portsOfApps, type AppName } from './ports.ts';
import { untilReady } from './readiness.ts';
import { dataFolder, repositoryRoot } from './repository.ts';
import { startServiceProcess, type ServiceProcess } from './service-process.ts';

/** An app of this repository that can be started. */
export interface App {
  readonly name: AppName;
  readonly port: number;
  /** The variable that sets the port. */
  readonly variable: string;
  readonly url: string;
  /** The path from the root of the repository. It identifies the app in the command line of a process. */
  readonly main: string;
  /** True if another app depends on it. `npm start` waits only for these apps. */
  readonly isNeeded: boolean;
}

/** Apps that build their pages at the start, which takes long on a busy machine. */
const mayBeLate: readonly AppName[] = ['docs', 'console'];

/**
 * The folder with the process ids of the apps, from which a later start finds apps without a parent process.
 */
const runningFolder = path.join(dataFolder, 'running');

export function findApps(environment: NodeJS.ProcessEnv): App[] {
  return (Object.keys(portsOfApps) as AppName[]).map((name) => {
    const port = portOfApp(name, environment);
    const main = `apps/${name}/src/main.ts`;
    const { variable } = portsOfApps[name];
    const isNeeded = !mayBeLate.includes(name);
    return { name, port, variable, url: `http://127.0.0.1:${port}`, main, isNeeded };
  });
}

/** Ends apps that still run although their start and their leashes were killed. They occupy the ports. */
export async function endAbandonedApps(apps: readonly App[]): Promise<void> {
  await mkdir(runningFolder, { recursive: true });
  for (const app of apps) {
    const note = path.join(runningFolder, app.name);
    const pid = Number(await readFile(note, 'utf8').catch(() => '0'));
    if (pid === 0) continue;
    if ((await commandLineOf(pid)).includes(app.main))
      await endProcess(pid, [
        ['SIGTERM', 10],
        ['SIGKILL', 5],
      ]);
    await rm(note);
  }
}

/**
 * Returns the environment of an app. The license service gets its own address, because its links to customers
 * lead to itself and not to the API.
 */
export const environmentOf = ({ name }: App, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  name === 'license-service' ? { ...environment, BASE_URL: environment['LICENSE_URL'] } : environment;

/**
 * Starts an app under the current Node and keeps it running. Returns once it is ready, or immediately if no
 * other app depends on it.
 */
export async function startApp(
  app: App,
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<RestartedProcess<ServiceProcess>> {
  const log = await openAppLog(app.name);
  const note = path.join(runningFolder, app.name);
  // A restarted app may be ready before the apps that it needs.
  let isAwaited = app.isNeeded;
  const start = async (): Promise<ServiceProcess> => {
    const { child, service } = await startServiceProcess(
      process.execPath,
      ['--enable-source-maps', app.main],
      {
        cwd: repositoryRoot,
        env: {
          ...environmentOf(app, environment),
          ...{ PORT: app.port.toString(), METRICS_PORT: metricsPortOf(app.port).toString() },
        },
        stdio: log.stdio,
        stopSignal: 'TERM',
        // The grace period before a kill. It is longer than an app's own time limit for a graceful shutdown.
        graceSeconds: 25,
      },
    );
    log.follow(child);
    await writeFile(note, service.pid.toString());
    try {
      if (isAwaited) await untilReady(app.name, app.url, service);
      isAwaited = false;
      return service;
    } catch (error) {
      await service.stop();
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`${message}; the end of ${log.file}:\n${await log.tail()}`, { cause: error });
    }
  };
  const kept = await keepRunning(app.name, start, say);
  let isStopped = false;
  if (!app.isNeeded) {
    // The app may first build its pages, which is slow on a busy machine.
    void untilReady(app.name, app.url, kept.current(), 300).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      if (!isStopped) say(`${message}; all else runs on, and its log is ${log.file}`);
    });
  }
  return {
    ...kept,
    stop: async () => {
      isStopped = true;
      await kept.stop();
      await log.close();
      await rm(note, { force: true });
    },
  };
}
