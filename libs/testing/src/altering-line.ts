/** A TCP proxy to a real server that replaces one word in the server's answers. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Transform } from 'node:stream';

export interface AlteringProxy {
  /** The address of the server through this proxy. */
  readonly url: string;
  stop(): void;
}

/** `instead` has the same length as the match of `word`, because protocols state the length of messages. */
export async function startAlteringProxy(
  serverUrl: string,
  pattern: RegExp,
  replacement: string,
): Promise<AlteringProxy> {
  const target = new URL(serverUrl);
  const server = createServer((here) => {
    const there = connect(Number(target.port), target.hostname);
    const say = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        done(null, Buffer.from(chunk.toString('latin1').replace(pattern, replacement), 'latin1'));
      },
    });
    there.pipe(say).pipe(here);
    here.pipe(there);
    for (const socket of [here, there]) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        here.destroy();
        there.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    stop: () => {
      server.close();
    },
  };
}
