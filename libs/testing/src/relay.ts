/** A TCP server on this machine that forwards connections to another server. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Relay {
  /** Returns the URL with the relay's port. */
  through(url: string): string;
  stop(): void;
}

/**
 * Connects each client to the server. `carry` has to forward the data of both sides. If one side closes, the
 * other is closed too.
 */
export async function startRelay(
  serverUrl: string,
  carry: (client: Socket, upstream: Socket) => void,
): Promise<Relay> {
  const { hostname, port: serverPort } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(serverPort), hostname);
    for (const [side, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(side);
      side.setNoDelay(true);
      side.on('error', () => other.destroy());
      side.on('close', () => {
        sockets.delete(side);
        other.destroy();
      });
    }
    carry(client, upstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
  return {
    through: (url) => {
      const relayed = new URL(url);
      relayed.port = address.port.toString();
      return relayed.href.replace(/\/$/, '');
    },
    stop: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
