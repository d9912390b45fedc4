/** A webhook receiver that verifies signatures with the standard library. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface Received {
  readonly id: string;
  readonly seq: number;
  readonly type: string;
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Record<string, unknown>;
  };
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
}

export interface PushReceiver {
  readonly url: string;
  readonly received: Received[];
  /** Returns the highest number of concurrent requests. */
  readonly most: () => number;
  /** Sets the response to further requests: a status, or a function that writes the response. */
  answer: (with_: number | ((response: ServerResponse, received: Received) => void)) => void;
  readonly close: () => Promise<void>;
}

export async function openReceiver(): Promise<PushReceiver> {
  const received: Received[] = [];
  let respond: (response: ServerResponse, received: Received) => void = (response) => response.end();
  let [underWay, most] = [0, 0];
  const server: Server = createServer((request, response) => {
    underWay += 1;
    most = Math.max(most, underWay);
    response.on('close', () => (underWay -= 1));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const body = JSON.parse(text) as Received['body'];
      const one = {
        id: String(request.headers['webhook-id']),
        seq: Number(body.data['seq']),
        type: body.type,
        ...{ body, text, headers: request.headers, path: request.url ?? '' },
      };
      received.push(one);
      respond(response, one);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    most: () => most,
    answer: (with_) => {
      respond =
        typeof with_ === 'number'
          ? (response) => {
              response.statusCode = with_;
              response.end('said so');
            }
          : with_;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Verifies the signature and returns the message; throws if the signature is invalid. */
export const verify = (secret: string, { text, headers }: Received): unknown =>
  new Webhook(secret).verify(text, headers as Record<string, string>);
