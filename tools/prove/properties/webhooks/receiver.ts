/** A receiver as a customer has one: it verifies, fails now and then, and can be taken away and come back. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { type Dice } from '../../../dev/dice.ts';

/** One endpoint's side of it. */
export interface Inbox {
  /** What was taken, by its webhook-id: the number that came with it. */
  readonly taken: Map<string, number>;
  /** The numbers in the order in which they were taken for the first time. */
  readonly order: number[];
  /** An id that came with two numbers, a bad signature: what must not be. */
  readonly wrong: string[];
  tries: number;
}

export interface Receiver {
  readonly url: (path: string) => string;
  inbox(path: string, secret: string): Inbox;
  /** As when its process dies: connections break, and nothing listens. */
  kill(): Promise<void>;
  startAgain(): Promise<void>;
}

/** It answers so many of a hundred with an error, and of those half after it took the message. */
export async function openReceiver(dice: Dice, failsOfHundred: number): Promise<Receiver> {
  const inboxes = new Map<string, { readonly inbox: Inbox; readonly verifier: Webhook }>();
  let server: Server | undefined;
  let port = 0;

  const take = (path: string, headers: Record<string, string>, text: string): void => {
    const found = inboxes.get(path);
    if (found === undefined) throw new Error(`nobody has ${path}`);
    const { inbox, verifier } = found;
    const { data } = verifier.verify(text, headers) as { data: { seq: number } };
    const id = headers['webhook-id'] ?? '';
    const before = inbox.taken.get(id);
    if (before === undefined) {
      inbox.taken.set(id, data.seq);
      inbox.order.push(data.seq);
    } else if (before !== data.seq) inbox.wrong.push(`${id} came as ${before} and as ${data.seq}`);
  };

  const listen = async (): Promise<void> => {
    const started = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const path = request.url ?? '';
        const inbox = inboxes.get(path)?.inbox;
        if (inbox !== undefined) inbox.tries += 1;
        const fails = dice.chance(failsOfHundred / 100);
        try {
          // An answer that is lost after the message was taken brings it again.
          if (!fails || dice.chance(0.5))
            take(path, request.headers as Record<string, string>, Buffer.concat(chunks).toString());
        } catch (error) {
          inbox?.wrong.push(String(error));
        }
        response.statusCode = fails ? 503 : 204;
        response.end();
      });
    });
    started.listen(port, '127.0.0.1');
    await once(started, 'listening');
    ({ port } = started.address() as AddressInfo);
    server = started;
  };
  await listen();
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    inbox: (path, secret) => {
      const inbox: Inbox = { taken: new Map(), order: [], wrong: [], tries: 0 };
      inboxes.set(path, { inbox, verifier: new Webhook(secret) });
      return inbox;
    },
    kill: async () => {
      const killed = server;
      server = undefined;
      if (killed === undefined) return;
      killed.closeAllConnections();
      killed.close();
      await once(killed, 'close');
    },
    startAgain: async () => {
      if (server === undefined) await listen();
    },
  };
}
