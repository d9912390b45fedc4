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
  readonly url: string;
  /** The path from the root of the repository. */
  readonly main: string;
  /** True if another app depends on it. `npm start` waits only for these apps. */
  readonly isNeeded: boolean;
}

/** A process of apps. */
export interface AppProgram {
  readonly name: string;
  /** The path from the root of the repository. It identifies the program in the command line of a process. */
  readonly main: string;
  readonly apps: readonly App[];
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
    const isNeeded = !mayBeLate.includes(name);
    return { name, port, url: `http://127.0.0.1:${port}`, main, isNeeded };
  });
}

/** Returns the processes of `npm start`: all apps share one, or each has its own. */
export const programsOf = (apps: readonly App[], isSeparate: boolean): AppProgram[] =>
  isSeparate
    ? apps.map((app) => ({ name: app.name, main: app.main, apps: [app] }))
    : [{ name: 'services', main: 'tools/dev/services.ts', apps }];

/** Ends apps that still run although their start and their leashes were killed. They occupy the ports. */
export async function endAbandonedApps(apps: readonly App[]): Promise<void> {
  await mkdir(runningFolder, { recursive: true });
  for (const { name, main } of [...programsOf(apps, true), ...programsOf(apps, false)]) {
    const note = path.join(runningFolder, name);
    const pid = Number(await readFile(note, 'utf8').catch(() => '0'));
    if (pid === 0) continue;
    if ((await commandLineOf(pid)).includes(main))
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
export const environmentOf = ({ name, port }: App, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...environment,
  ...(name === 'license-service' && { BASE_URL: environment['LICENSE_URL'] }),
  ...{ PORT: port.toString(), METRICS_PORT: metricsPortOf(port).toString() },
});

/**
 * Starts a program under the current Node and keeps it running. Returns once those of its apps are ready on which
 * others depend.
 */
export async function startProgram(
  { name, main, apps }: AppProgram,
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<RestartedProcess<ServiceProcess>> {
  const log = await openAppLog(name);
  const note = path.join(runningFolder, name);
  const [only] = apps;
  // A restarted app may be ready before the apps that it needs.
  let awaited = apps.filter(({ isNeeded }) => isNeeded);
  const start = async (): Promise<ServiceProcess> => {
    const { child, service } = await startServiceProcess(process.execPath, ['--enable-source-maps', main], {
      cwd: repositoryRoot,
      env: only?.main === main ? environmentOf(only, environment) : environment,
      stdio: log.stdio,
      stopSignal: 'TERM',
      // The grace period before a kill. It is longer than an app's own time limit for a graceful shutdown.
      graceSeconds: 25,
    });
    log.follow(child);
    await writeFile(note, service.pid.toString());
    try {
      await Promise.all(awaited.map((app) => untilReady(app.name, app.url, service)));
      awaited = [];
      return service;
    } catch (error) {
      await service.stop();
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`${message}; the end of ${log.file}:\n${await log.tail()}`, { cause: error });
    }
  };
  const kept = await keepRunning(name, start, say);
  let isStopped = false;
  for (const app of apps.filter(({ isNeeded }) => !isNeeded)) {
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
