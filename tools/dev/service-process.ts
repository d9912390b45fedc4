import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { leash } from './leash.ts';

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A child of ours that serves until it is told to stop. */
export interface ServiceProcess {
  readonly pid: number;
  /** Settles when the process is gone, for whatever reason. */
  readonly exited: Promise<Exit>;
  readonly isAlive: () => boolean;
  /** Asks it to end, kills it when it does not, and returns when it is gone. Safe to call twice. */
  stop(): Promise<void>;
  /** No more asking. */
  kill(): void;
}

export interface ServiceProcessOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdio: StdioOptions;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  readonly stopSignal: 'TERM' | 'INT' | 'QUIT';
  /** How long an orderly stop may take before it is killed. */
  readonly graceSeconds: number;
  /** A throw-away folder, removed also when we are killed before we could stop the process. */
  readonly folderToRemove?: string | undefined;
}

/** How a process ended, in words. */
export function describeExit({ code, signal }: Exit): string {
  return signal === null ? `code ${code ?? 'unknown'}` : `signal ${signal}`;
}

export interface StartedServiceProcess {
  readonly child: ChildProcess;
  readonly service: ServiceProcess;
}

/**
 * Starts a process in a group of its own, so that a Ctrl-C in the terminal reaches only us and we choose the
 * order in which things end, and on a leash, so that it does not outlive us.
 */
export async function startServiceProcess(
  command: string,
  args: readonly string[],
  options: ServiceProcessOptions,
): Promise<StartedServiceProcess> {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env,
    stdio: options.stdio,
    detached: true,
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.gid === undefined ? {} : { gid: options.gid }),
  });
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve({ code, signal });
    });
  });
  await once(child, 'spawn');
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} started without a process id`);
  const held = leash(pid, options.stopSignal, options.folderToRemove);
  const over = exited.then(async (exit) => {
    await held.release();
    return exit;
  });
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  return {
    child,
    service: {
      pid,
      exited: over,
      isAlive,
      kill: () => {
        child.kill('SIGKILL');
      },
      stop: async () => {
        if (isAlive()) child.kill(`SIG${options.stopSignal}`);
        const deadline = setTimeout(() => child.kill('SIGKILL'), options.graceSeconds * 1000);
        await over;
        clearTimeout(deadline);
      },
    },
  };
}
