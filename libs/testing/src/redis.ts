/** The Redis that all specs share, and what a spec has of its own, to be stopped in the middle: the same program. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort } from './ports.ts';
import { until } from './until.ts';

/** Set by Jest's global set-up. */
export function redisUrl(): string {
  const url = process.env['TEST_REDIS_URL'];
  if (url === undefined) throw new Error('TEST_REDIS_URL is missing: run specs through Jest');
  return url;
}

/** What a Redis answers to one command, as it comes; '' where none is there. */
async function tell(port: number, host: string, command: string): Promise<string> {
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

export interface OwnRedis {
  readonly url: string;
  readonly port: number;
  /** What it answers to one command; '' where it is not there. */
  say(command: string): Promise<string>;
  /** It keeps its connections, and answers nothing any more. */
  hang(): void;
  goOn(): void;
  kill(): Promise<void>;
  /** The same one again, on the same port, with nothing in it; nothing happens where it is up. */
  startAgain(): Promise<void>;
}

/** The program of the shared one. */
async function findProgram(): Promise<string> {
  const { hostname, port } = new URL(redisUrl());
  const said = await tell(Number(port), hostname, 'INFO server');
  const program = /^executable:(.+)\r$/m.exec(said)?.[1];
  if (program === undefined) throw new Error('this Redis does not say what program it is');
  return program;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

/** Draws of a port before it is another fault than a port that was taken meanwhile. */
const mostDraws = 5;

/** Starts one on a free port of 127.0.0.1; `beforeOptions` is a file of its configuration, where it has one. */
export async function startOwnRedis(
  options: readonly string[] = [],
  beforeOptions: readonly string[] = [],
): Promise<OwnRedis> {
  const program = await findProgram();
  const startAt = async (port: number): Promise<ChildProcess | undefined> => {
    const child = spawn(
      program,
      [
        ...beforeOptions,
        ...['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', '/tmp'],
        ...options,
      ],
      { stdio: 'ignore' },
    );
    // What answers may be another one, which has the port.
    const isUp = async (): Promise<boolean> =>
      (await tell(port, '127.0.0.1', 'INFO server')).includes(`process_id:${child.pid ?? ''}\r`);
    await until(async () => (await isUp()) || hasEnded(child));
    return hasEnded(child) ? undefined : child;
  };
  let port = await freePort();
  let first = await startAt(port);
  for (let draw = 1; first === undefined && draw < mostDraws; draw += 1) {
    port = await freePort();
    first = await startAt(port);
  }
  if (first === undefined) throw new Error(`Redis ended as soon as it was started: ${program}`);
  let child = first;
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    say: (command) => tell(port, '127.0.0.1', command),
    hang: () => void child.kill('SIGSTOP'),
    goOn: () => void child.kill('SIGCONT'),
    kill: async () => {
      if (hasEnded(child)) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    startAgain: async () => {
      if (!hasEnded(child)) return;
      const again = await startAt(port);
      if (again === undefined) throw new Error(`Redis does not start again on port ${port}`);
      child = again;
    },
  };
}
