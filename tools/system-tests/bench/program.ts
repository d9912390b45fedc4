import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** A program of this folder that runs as a child process. It exits when this process does. */
export interface Program {
  /** The first message that the program sends. */
  readonly first: unknown;
  /** Sends a message and waits for the next one. */
  ask(message: object | number): Promise<unknown>;
  stop(): void;
}

export async function startProgram(
  file: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Program> {
  const child = fork(path.join(import.meta.dirname, file), {
    execArgv: [],
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...environment },
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} ended (code ${String(code)})`);
  });
  // Only a caller that waits for a message needs this error.
  ended.catch(() => undefined);
  const next = async (): Promise<unknown> =>
    ((await Promise.race([once(child, 'message'), ended])) as [unknown])[0];
  return {
    first: await next(),
    ask: (message) => {
      const answer = next();
      child.send(message);
      return answer;
    },
    stop: () => {
      child.disconnect();
    },
  };
}
