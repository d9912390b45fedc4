/** Stands between the command line and the API: counts what goes through it, and is away when a spec says so. */
import { EventEmitter, once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';

export interface Kept {
  readonly path: string;
  /** From 1. */
  readonly time: number;
  readonly what: 'question' | 'answer';
}

export interface Forwarder {
  readonly url: string;
  /** How often each path was asked for. */
  readonly asked: (path: string) => number;
  /** Once a path was asked for so often. */
  readonly until: (path: string, times: number) => Promise<void>;
  /** Once a path was answered, or began to be. */
  readonly answered: (path: string) => Promise<void>;
  /**
   * Keeps what is asked at a path the so-manieth time from now on: before it reaches the API, or its answer, when all is done.
   * Resolves once it has it.
   */
  readonly keep: (kept: Kept) => Promise<void>;
  /** Cuts all connections and takes no others, as a service that is started anew. */
  readonly away: () => Promise<void>;
  readonly back: () => Promise<void>;
}

export async function openForwarder(target: string): Promise<Forwarder> {
  const paths: string[] = [];
  const answers = new Set<string>();
  const asking = new EventEmitter();
  let keeping: (Kept & { readonly from: number; readonly has: () => void }) | undefined;
  const count = (path: string): number => paths.filter((one) => one === path).length;
  /** Whether it stays here; the one who waits for it is told. */
  const isKept = (path: string, time: number, what: Kept['what']): boolean => {
    if (keeping?.path !== path || keeping.what !== what || keeping.from + keeping.time !== time) return false;
    keeping.has();
    keeping = undefined;
    return true;
  };
  const open = async (port: number): Promise<Server> => {
    const server = createServer((incoming, answer) => {
      const { pathname, search } = new URL(incoming.url ?? '/', target);
      paths.push(pathname);
      asking.emit('asked');
      const time = count(pathname);
      if (isKept(pathname, time, 'question')) return;
      const { method, headers } = incoming;
      const outgoing = request(new URL(pathname + search, target), { method, headers }, (answered) => {
        if (isKept(pathname, time, 'answer')) return;
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
        keeping = { ...kept, from: count(kept.path), has };
      }),
    until: async (path, times) => {
      while (count(path) < times) await once(asking, 'asked');
    },
    answered: async (path) => {
      while (!answers.has(path)) await once(asking, 'answered');
    },
    away: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
    back: async () => {
      server = await open(port);
    },
  };
}
