/** A receiver as a customer has one: it verifies, fails now and then, and can be taken away and come back. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { type Dice } from '@muster/tools';
import { type Scope } from './services.ts';

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
  /** It answers nothing while this is so. */
  isSilent: boolean;
  /** Messages that came while it was silent. */
  unanswered: number;
}

/** Number of failures. */
const failsOfHundred = 30;

/** It answers many messages with an error, and of those half after it took the message. */
export async function openReceiver(
  scope: Scope,
  dice: Dice,
  { failsOnceEach = false }: { readonly failsOnceEach?: boolean } = {},
): Promise<Receiver> {
  const failed = new Set<string>();
  const inboxes = new Map<string, { readonly inbox: Inbox; readonly verifier: Webhook }>();
  let server: Server | undefined;
  let port = 0;

  const take = (path: string, headers: Record<string, string>, body: string): void => {
    const found = inboxes.get(path);
    if (found === undefined) throw new Error(`nobody has ${path}`);
    const { inbox, verifier } = found;
    const { data } = verifier.verify(body, headers) as { data: { seq?: number } };
    const seq = data.seq ?? 0;
    const id = headers['webhook-id'] ?? '';
    const before = inbox.taken.get(id);
    if (before === undefined) {
      inbox.taken.set(id, seq);
      inbox.order.push(seq);
    } else if (before !== seq) inbox.wrong.push(`${id} came as ${before} and as ${seq}`);
  };

  const answer = (path: string, headers: Record<string, string>, body: string): 503 | 204 => {
    const inbox = inboxes.get(path)?.inbox;
    if (inbox !== undefined) inbox.tries += 1;
    const id = headers['webhook-id'] ?? '';
    const fails = !(failsOnceEach && failed.has(id)) && dice.chance(failsOfHundred / 100);
    if (fails) failed.add(id);
    try {
      // An answer that is lost after the message was taken brings it again.
      if (!fails || dice.chance(0.5)) take(path, headers, body);
    } catch (error) {
      inbox?.wrong.push(String(error));
    }
    return fails ? 503 : 204;
  };

  const listen = async (): Promise<void> => {
    const started = createServer((request, response) => {
      void text(request).then((body) => {
        if (receiver.isSilent) receiver.unanswered += 1;
        else
          response
            .writeHead(answer(request.url ?? '', request.headers as Record<string, string>, body))
            .end();
      });
    });
    started.listen(port, '127.0.0.1');
    await once(started, 'listening');
    ({ port } = started.address() as AddressInfo);
    server = started;
  };
  const receiver: Receiver = {
    ...{ isSilent: false, unanswered: 0 },
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
  await listen();
  scope.onStop(() => receiver.kill());
  return receiver;
}
