/** Runs programs, each in its own process group, so that a program's child processes end with it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';

/** The time that a program has to exit before it is killed. */
const defaultGraceMillis = 15_000;

export interface Programs {
  /**
   * Returns standard output and standard error. Throws an error with the last lines of output if the program
   * fails.
   */
  run(program: string, args: readonly string[]): Promise<{ stdout: string; stderr: string }>;
  /** Starts a program that runs until `endAll`. */
  start(program: string, args: readonly string[]): void;
  /** Ends all programs that run now. */
  endAll(): Promise<void>;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // The last process of the group has already exited.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export function createPrograms(
  environment: NodeJS.ProcessEnv,
  graceMillis: number = defaultGraceMillis,
): Programs {
  const running = new Map<ChildProcess, Promise<unknown>>();
  const launch = (program: string, args: readonly string[], output: 'pipe' | 'ignore'): ChildProcess => {
    const child = spawn(program, args, {
      env: environment,
      detached: true,
      stdio: ['ignore', output, output],
    });
    const ended = new Promise((resolve) => child.once('close', resolve).once('error', resolve));
    running.set(child, ended);
    void ended.then(() => running.delete(child));
    return child;
  };
  return {
    run: (program, args) =>
      new Promise((resolve, reject) => {
        const child = launch(program, args, 'pipe');
        const said = { stdout: '', stderr: '' };
        child.stdout?.setEncoding('utf8').on('data', (text: string) => (said.stdout += text));
        child.stderr?.setEncoding('utf8').on('data', (text: string) => (said.stderr += text));
        child.once('error', reject);
        child.once('close', (code) => {
          if (code === 0) {
            resolve(said);
            return;
          }
          const last = `${said.stdout}\n${said.stderr}`.trim().split('\n').slice(-15).join('\n');
          reject(new Error(`${program} ${args.slice(0, 2).join(' ')} failed:\n${last}`));
        });
      }),
    start: (program, args) => {
      launch(program, args, 'ignore');
    },
    endAll: async () => {
      const all = [...running];
      for (const [{ pid }] of all) if (pid !== undefined) signalGroup(pid, 'SIGTERM');
      const ended = Promise.all(all.map(([, end]) => end));
      await Promise.race([ended, wait(graceMillis, undefined, { ref: false })]);
      // A program that has exited may have left child processes in its group.
      for (const [{ pid }] of all) if (pid !== undefined) signalGroup(pid, 'SIGKILL');
      await ended;
    },
  };
}
