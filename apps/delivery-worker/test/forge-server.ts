/** A server that simulates a forge's API and records its requests. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';

export interface ReceivedForgeCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body; null if there was none. */
  readonly body: unknown;
}

/** Answers a request, possibly later. */
export type RespondToForgeCall = (receivedCalls: ReceivedForgeCall, response: ServerResponse) => void;

export interface ForgeServer {
  readonly url: string;
  readonly asked: ReceivedForgeCall[];
  /** Sets the response to further requests: a status with JSON, or a function. */
  answer: (
    how: RespondToForgeCall | { status: number; headers?: Record<string, string>; json?: unknown },
  ) => void;
  close(): Promise<void>;
}

export const replyWith = (
  response: ServerResponse,
  status: number,
  json: unknown = {},
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(status === 304 ? undefined : JSON.stringify(json));
};

export async function openForge(): Promise<ForgeServer> {
  const asked: ReceivedForgeCall[] = [];
  let answering: RespondToForgeCall = (_, response) => {
    replyWith(response, 201);
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method = '', url: path = '', headers } = request;
      const one = { method, path, headers, body: text === '' ? null : (JSON.parse(text) as unknown) };
      asked.push(one);
      answering(one, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer: (how) => {
      answering =
        typeof how === 'function'
          ? how
          : (_, response) => {
              replyWith(response, how.status, how.json, how.headers);
            };
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
