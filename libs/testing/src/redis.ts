/** The Redis that all specs share, and one of a spec's own, to be stopped in the middle: the same program. */
import { spawn } from 'node:child_process';
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
  /** What it answers to one command; '' where it is not there. */
  say(command: string): Promise<string>;
  /** It keeps its connections, and answers nothing any more. */
  hang(): void;
  goOn(): void;
  kill(): Promise<void>;
  /** The same one again, on the same port, with nothing in it; nothing happens where it is up. */
  startAgain(): Promise<void>;
}

export async function startOwnRedis(): Promise<OwnRedis> {
  const { hostname, port: sharedPort } = new URL(redisUrl());
  const said = await tell(Number(sharedPort), hostname, 'INFO server');
  const program = /^executable:(.+)\r$/m.exec(said)?.[1];
  if (program === undefined) throw new Error('this Redis does not say what program it is');
  const port = await freePort();
  const start = async () => {
    const child = spawn(
      program,
      ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', '/tmp'],
      {
        stdio: 'ignore',
      },
    );
    await until(async () => (await tell(port, '127.0.0.1', 'PING')).startsWith('+PONG'));
    return child;
  };
  let child = await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    say: (command) => tell(port, '127.0.0.1', command),
    hang: () => void child.kill('SIGSTOP'),
    goOn: () => void child.kill('SIGCONT'),
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    startAgain: async () => {
      if (child.exitCode !== null || child.signalCode !== null) child = await start();
    },
  };
}
