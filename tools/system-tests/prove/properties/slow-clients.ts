/**
 * Clients send half of a body and then nothing, from one address and from many, while others make ordinary
 * calls.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type CallReply, oddAmong, openApi, quantile } from '../callers.ts';
import { without } from '../guards.ts';
import { property, type RunProperty } from '../property.ts';

interface Extent {
  readonly connections: number;
  /** The number of ordinary calls for each way of sending slowly. */
  readonly calls: number;
  readonly addresses: number;
  /** Is true if the duration of ordinary calls is limited, which needs a machine without other load. */
  readonly isTimed: boolean;
}

const short: Extent = { connections: 2, calls: 20, addresses: 20, isTimed: false };
const long: Extent = { connections: 10, calls: 2_000, addresses: 200, isTimed: true };

const placesPerConnection = 6;
const mostMillis = 1_000;
/**
 * The number of rounds. The limit applies to the median of their slowest calls, because on a busy machine a
 * single call may always be slow.
 */
const rounds = 5;
const turnMillis = 5;

interface Way {
  readonly name: string;
  readonly path: string;
  readonly token?: string;
  readonly addressOf: (index: number) => string;
}

const one = (): string => '127.0.0.1';
const manyOf =
  (addresses: number) =>
  (index: number): string =>
    `127.0.${1 + (((index % addresses) / 100) | 0)}.${1 + (index % Math.min(addresses, 100))}`;

/** Keeps `count` half-sent bodies open. A connection that the server closes is opened again. */
function sendSlowly(url: string, count: number, { path, token, addressOf }: Way): () => void {
  const { port } = new URL(url);
  const sockets = new Set<Socket>();
  let isOver = false;
  const lines = [
    `POST ${path} HTTP/1.1`,
    ...['Host: prove', 'Content-Type: application/json', 'Content-Length: 100'],
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
  ];
  const open = (index: number): void => {
    if (isOver) return;
    const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress: addressOf(index) });
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      setTimeout(open, turnMillis, index);
    });
    // The server ends a request by answering. The connection is then closed, and a new one is opened.
    socket.on('data', () => socket.destroy());
    socket.write(`${lines.join('\r\n')}\r\n\r\n{`);
  };
  for (let index = 0; index < count; index += 1) open(index);
  return () => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  };
}

const run: RunProperty<Extent> = async (
  { services, note },
  { connections, calls, addresses, isTimed },
  removals,
) => {
  const { api, as, people } = await openApi(services, {
    ...{ people: 2, removals },
    environment: { DATABASE_POOL: connections.toString() },
  });
  const [ana, ben] = people;
  if (ben === undefined) throw new Error('nobody would be there');
  const ask = (): Promise<CallReply> => as(ana.token)('session.identity', {});
  const places = connections * placesPerConnection;
  const many = manyOf(addresses);
  const stranger = { path: '/invitations/accept' };
  const caller = { path: '/api/comments/create', token: ben.token };
  const ways: Way[] = [
    { name: 'strangers, one address', ...stranger, addressOf: one },
    { name: 'strangers, many addresses', ...stranger, addressOf: many },
    { name: 'a token, one address', ...caller, addressOf: one },
    { name: 'a token, many addresses', ...caller, addressOf: many },
  ];
  const violations: string[] = [];
  /** The duration of the slowest call in each round. */
  const slowest: number[] = [];
  await ask();
  for (const way of ways) {
    note(way.name);
    const stop = sendSlowly(api.url, Math.max(2 * places, way.addressOf === many ? addresses : 0), way);
    try {
      const heard: CallReply[] = [];
      while (heard.length < calls) {
        const reply = await ask();
        // A busy machine may refuse a call. Clients repeat it.
        heard.push(reply.status === 503 ? await pause(mostMillis / 10).then(ask) : reply);
        await pause(turnMillis);
      }
      violations.push(...oddAmong(heard, `calls beside ${way.name}`));
      const size = Math.ceil(heard.length / rounds);
      for (let first = 0; first < heard.length; first += size)
        slowest.push(Math.max(...heard.slice(first, first + size).map(({ millis }) => millis)));
    } finally {
      stop();
    }
    if (removals.length > 0 && violations.length > 0) break;
  }
  const usual = quantile(slowest, 0.5);
  if (isTimed && usual > mostMillis)
    violations.push(`the slowest call of others took ${Math.round(usual)} ms in half of all rounds`);
  return {
    violations,
    figures: {
      'half-sent bodies': 2 * places,
      'calls of others': calls * ways.length,
      ...(isTimed && {
        'ms for the slowest of a round, at the median': Math.round(usual),
        'ms for the slowest of all': Math.round(Math.max(...slowest)),
      }),
    },
  };
};

export const slowClients = property<Extent>({
  name: 'slow clients',
  promise:
    'With twice as many half-sent bodies as there are places, of strangers or of a caller with a token, from one address or from 200, all other callers are answered within a second, at the latest when they repeat the call.',
  short,
  long,
  run,
  controls: [
    {
      name: 'a body on its way takes a place from calls that are answered',
      leftTo: 'nx long',
      without: [without('a half-sent body leaves its place', 'bodies.admit(request, reply);')],
    },
  ],
});
