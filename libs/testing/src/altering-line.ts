/** A TCP proxy to a real server that replaces one word in the server's answers. */
import { Transform } from 'node:stream';
import { startRelay } from './relay.ts';

export interface AlteringProxy {
  /** The address of the server through this proxy. */
  readonly url: string;
  stop(): void;
}

/** `replacement` has the same length as the match of `pattern`, because protocols state the length of messages. */
export async function startAlteringProxy(
  serverUrl: string,
  pattern: RegExp,
  replacement: string,
): Promise<AlteringProxy> {
  const relay = await startRelay(serverUrl, (client, upstream) => {
    const say = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        done(null, Buffer.from(chunk.toString('latin1').replace(pattern, replacement), 'latin1'));
      },
    });
    upstream.pipe(say).pipe(client);
    client.pipe(upstream);
  });
  return {
    url: relay.through(serverUrl),
    stop: () => {
      relay.stop();
    },
  };
}
