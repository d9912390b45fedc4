/** The Redis that all specs share, and servers of the same program that one spec starts and stops. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { findFreePort } from './ports.ts';
import { waitUntil } from './until.ts';

/** Returns the address that Jest's global set-up sets. */
export function redisUrl(): string {
  const url = process.env['TEST_REDIS_URL'];
  if (url === undefined) throw new Error('TEST_REDIS_URL is missing: run specs through Jest');
  return url;
}

/** Returns the answer of a Redis to one command as received, or '' if none listens. */
async function sendCommand(port: number, host: string, command: string): Promise<string> {
  const socket = connect(port, host);
  const said = new Promise<string>((resolve) => {
    let text = '';
    socket.on('data', (data: Buffer) => {
      text += data.toString();
      if (text.endsWith('\r\n')) resolve(text);
    });
    socket.on('error', () => resolve(''));
    socket.on('close', () => resolve(text));
  });
  socket.write(`${command}\r\n`);
  const answer = await said;
  socket.destroy();
  return answer;
}

export interface SpecRedis {
  readonly url: string;
  readonly port: number;
  /** Returns the answer to one command, or '' if the server does not run. */
  sendCommand(command: string): Promise<string>;
  /** Suspends the server: it keeps its connections and answers no more. */
  suspend(): void;
  resume(): void;
  kill(): Promise<void>;
  /** Starts the server again on the same port, without data. Does nothing if it runs. */
  restart(): Promise<void>;
}

/** Returns the program of the shared server. */
async function findRedisProgram(): Promise<string> {
  const { hostname, port } = new URL(redisUrl());
  const said = await sendCommand(Number(port), hostname, 'INFO server');
  const program = /^executable:(.+)\r$/m.exec(said)?.[1];
  if (program === undefined) throw new Error('this Redis does not say what program it is');
  return program;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

/**
 * The number of ports to try. If the server starts on none of them, the cause is not a port that another
 * process has taken.
 */
const maxPortAttempts = 5;

/** Starts a server on a free port of 127.0.0.1. `leadingArguments` is its configuration file, if it has one. */
export async function startSpecRedis(
  options: readonly string[] = [],
  leadingArguments: readonly string[] = [],
): Promise<SpecRedis> {
  const program = await findRedisProgram();
  const startAt = async (port: number): Promise<ChildProcess | undefined> => {
    const child = spawn(
      program,
      [
        ...leadingArguments,
        ...['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', '/tmp'],
        ...options,
      ],
      { stdio: 'ignore' },
    );
    // Compares the process id, because another Redis server may have taken the port and would answer instead.
    const isUp = async (): Promise<boolean> =>
      (await sendCommand(port, '127.0.0.1', 'INFO server')).includes(`process_id:${child.pid ?? ''}\r`);
    await waitUntil(async () => (await isUp()) || hasEnded(child));
    return hasEnded(child) ? undefined : child;
  };
  let port = await findFreePort();
  let first = await startAt(port);
  for (let draw = 1; first === undefined && draw < maxPortAttempts; draw += 1) {
    port = await findFreePort();
    first = await startAt(port);
  }
  if (first === undefined) throw new Error(`Redis ended as soon as it was started: ${program}`);
  let child = first;
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    sendCommand: (command) => sendCommand(port, '127.0.0.1', command),
    suspend: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill: async () => {
      if (hasEnded(child)) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    restart: async () => {
      if (!hasEnded(child)) return;
      const again = await startAt(port);
      if (again === undefined) throw new Error(`Redis does not start again on port ${port}`);
      child = again;
    },
  };
}
