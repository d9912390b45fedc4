import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openAppLog } from './app-log.ts';
import { commandLineOf, endProcess } from './foreign-process.ts';
import { keepRunning, type Kept } from './keep-running.ts';
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
  /** From the root of the repository; with it the command line names the app. */
  readonly main: string;
  /** Whether something else rests on it. What nothing rests on may be late, and holds nothing up. */
  readonly isNeeded: boolean;
}

/** Their pages are made as they start, which takes long on a busy machine. */
const mayBeLate: readonly AppName[] = ['docs', 'console'];

/** Process ids of the apps, for a start that finds them without a runner. */
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

/** Ends apps that outlived a runner which was killed together with their leashes: they still have the ports. */
export async function endAbandonedApps(apps: readonly App[]): Promise<void> {
  await mkdir(runningFolder, { recursive: true });
  for (const app of apps) {
    const note = path.join(runningFolder, app.name);
    const pid = Number(await readFile(note, 'utf8').catch(() => '0'));
    if (pid === 0) continue;
    if ((await commandLineOf(pid)).includes(app.main)) {
      await endProcess(pid, [
        ['SIGTERM', 10],
        ['SIGKILL', 5],
      ]);
    }
    await rm(note);
  }
}

/** What an app is told. The links that the license service gives to customers lead to itself, not to the API. */
export const environmentOf = ({ name }: App, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  name === 'license-service' ? { ...environment, BASE_URL: environment['LICENSE_URL'] } : environment;

/**
 * Starts an app under the Node that runs this, keeps it running, and returns once it says that it is ready; at once where
 * nothing rests on it.
 */
export async function startApp(
  app: App,
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<Kept<ServiceProcess>> {
  const log = await openAppLog(app.name);
  const note = path.join(runningFolder, app.name);
  // Later it may well be up before what it needs is up again.
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
        // Longer than an app gives itself to finish what it is doing.
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
    // It may make its pages first, beside whatever else this machine does.
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
