/**
 * A webhook receiver like a customer's: it verifies messages, fails at random, and can be killed and started
 * again.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { type Dice } from '@muster/tools';
import { type Scope } from './services.ts';

/** The messages that one endpoint received. */
export interface Inbox {
  /** The sequence number of each accepted message, by its webhook-id. */
  readonly taken: Map<string, number>;
  /** The sequence numbers of messages, in the order in which they were first accepted. */
  readonly order: number[];
  /** Violations, such as a bad signature or an id that came with two numbers. */
  readonly problems: string[];
  tries: number;
}

export interface ProofReceiver {
  readonly url: (path: string) => string;
  inbox(path: string, secret: string): Inbox;
  /** Stops the server as a dead process would: connections break, and the port is closed. */
  kill(): Promise<void>;
  startAgain(): Promise<void>;
  /** Makes the receiver answer no message while it is true. */
  isSilent: boolean;
  /** The number of messages that came while `isSilent` was true. */
  unanswered: number;
}

/** The number of failed attempts per hundred. */
const failurePercent = 30;

/**
 * Starts a receiver that answers many messages with an error. Half of the messages with an error have been
 * accepted nevertheless.
 */
export async function openReceiver(
  scope: Scope,
  dice: Dice,
  { failsOnceEach = false }: { readonly failsOnceEach?: boolean } = {},
): Promise<ProofReceiver> {
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
    } else if (before !== seq) inbox.problems.push(`${id} came as ${before} and as ${seq}`);
  };

  const answer = (path: string, headers: Record<string, string>, body: string): 503 | 204 => {
    const inbox = inboxes.get(path)?.inbox;
    if (inbox !== undefined) inbox.tries += 1;
    const id = headers['webhook-id'] ?? '';
    const fails = !(failsOnceEach && failed.has(id)) && dice.chance(failurePercent / 100);
    if (fails) failed.add(id);
    try {
      // In half of the failures the receiver accepts the message, and the sender repeats it because the
      // acknowledgment is missing.
      if (!fails || dice.chance(0.5)) take(path, headers, body);
    } catch (error) {
      inbox?.problems.push(String(error));
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
  const receiver: ProofReceiver = {
    ...{ isSilent: false, unanswered: 0 },
    url: (path) => `http://127.0.0.1:${port}${path}`,
    inbox: (path, secret) => {
      const inbox: Inbox = { taken: new Map(), order: [], problems: [], tries: 0 };
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
