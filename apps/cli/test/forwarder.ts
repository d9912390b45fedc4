/**
 * A proxy between the command line and the API. It counts requests, and is unavailable when a spec asks for
 * that.
 */
import { EventEmitter, once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';

export interface ForwardedRequest {
  readonly path: string;
  /** Selects the request to the path. In `keep`, 1 is the next request to it. */
  readonly nth: number;
  readonly what: 'question' | 'answer';
}

export interface Forwarder {
  readonly url: string;
  /** Returns the number of requests to a path so far. */
  readonly asked: (path: string) => number;
  /** Resolves once a path has had `times` requests. */
  readonly waitForRequests: (path: string, times: number) => Promise<void>;
  /** Resolves once the API has begun to answer a request to the path. */
  readonly answered: (path: string) => Promise<void>;
  /**
   * Holds back the nth request to a path from now on before it reaches the API, or holds back its response.
   * Resolves once the request or response is held.
   */
  readonly keep: (kept: ForwardedRequest) => Promise<void>;
  /** Closes all connections and accepts no new ones, like a restarting service. */
  readonly goOffline: () => Promise<void>;
  readonly goOnline: () => Promise<void>;
}

export async function openForwarder(target: string): Promise<Forwarder> {
  const paths: string[] = [];
  const answers = new Set<string>();
  const asking = new EventEmitter();
  let keeping: (ForwardedRequest & { readonly from: number; readonly onHeld: () => void }) | undefined;
  const count = (path: string): number => paths.filter((one) => one === path).length;
  /** Returns true if the request or response is held back, and notifies the spec that waits for it. */
  const isKept = (path: string, nth: number, what: ForwardedRequest['what']): boolean => {
    if (keeping?.path !== path || keeping.what !== what || keeping.from + keeping.nth !== nth) return false;
    keeping.onHeld();
    keeping = undefined;
    return true;
  };
  const open = async (port: number): Promise<Server> => {
    const server = createServer((incoming, answer) => {
      const { pathname, search } = new URL(incoming.url ?? '/', target);
      paths.push(pathname);
      asking.emit('asked');
      const nth = count(pathname);
      if (isKept(pathname, nth, 'question')) return;
      const { method, headers } = incoming;
      const outgoing = request(new URL(pathname + search, target), { method, headers }, (answered) => {
        if (isKept(pathname, nth, 'answer')) return;
        answer.writeHead(answered.statusCode ?? 502, answered.headers);
        answered.pipe(answer);
        answers.add(pathname);
        asking.emit('answered');
      });
      outgoing.on('error', () => answer.destroy());
      answer.on('close', () => outgoing.destroy());
      incoming.pipe(outgoing);
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  let server = await open(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked: count,
    keep: (kept) =>
      new Promise((has) => {
        keeping = { ...kept, from: count(kept.path), onHeld: has };
      }),
    waitForRequests: async (path, times) => {
      while (count(path) < times) await once(asking, 'asked');
    },
    answered: async (path) => {
      while (!answers.has(path)) await once(asking, 'answered');
    },
    goOffline: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
    goOnline: async () => {
      server = await open(port);
    },
  };
}
