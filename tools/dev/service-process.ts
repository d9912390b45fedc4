import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { leash } from './leash.ts';

export interface ServiceExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A child process that serves until it is stopped. */
export interface ServiceProcess {
  readonly pid: number;
  /** Settles when the process is gone for any reason. */
  readonly exited: Promise<ServiceExit>;
  readonly isAlive: () => boolean;
  /**
   * Asks the process to end, kills it after the grace period, and returns when the process is gone. The
   * function may be called twice.
   */
  stop(): Promise<void>;
  /** Kills the process without a grace period. */
  kill(): void;
}

export interface ServiceProcessOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdio: StdioOptions;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  readonly stopSignal: 'TERM' | 'INT' | 'QUIT';
  /** The time limit of a graceful stop in seconds. After this time the process is killed. */
  readonly graceSeconds: number;
  /** A temporary folder, which is removed even if this process is killed before it could stop the child. */
  readonly folderToRemove?: string | undefined;
}

/** Describes the end of a process. */
export function describeExit({ code, signal }: ServiceExit): string {
  return signal === null ? `code ${code ?? 'unknown'}` : `signal ${signal}`;
}

export interface StartedServiceProcess {
  readonly child: ChildProcess;
  readonly service: ServiceProcess;
}

/**
 * Starts a process in its own group, so that Ctrl-C in the terminal reaches only this process, which decides
 * the order of the shutdown. A leash ensures that the child does not outlive this process.
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
  const exited = new Promise<ServiceExit>((resolve) => {
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
