/** A proxy that adds a token to requests, for suites and clients that cannot be configured with one. */
import { once } from 'node:events';
import { createServer, request as ask, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';

export interface TokenAdder {
  readonly url: string;
  close(): Promise<void>;
}

export async function addToken(target: string, token: string): Promise<TokenAdder> {
  const to = new URL(target);
  const server: Server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', to);
    // Pass on the client's Host header, because the gateway decides whether a foreign host is allowed.
    const passed = ask(
      {
        ...{ host: to.hostname, port: to.port, path: `${pathname}${search}`, method: request.method },
        headers: { ...request.headers, authorization: `Bearer ${token}` },
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    passed.on('error', () => response.destroy());
    request.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${to.pathname}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
