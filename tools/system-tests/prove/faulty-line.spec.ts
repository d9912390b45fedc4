// Tests the relay that breaks connections, between a client and an echo server.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Dice } from '@muster/tools';
import { type FaultyProxy, faults, startFaultyProxy } from './faulty-line.ts';

let server: Server;
let line: FaultyProxy;
let heard: string[];
const clients: Socket[] = [];

beforeEach(async () => {
  heard = [];
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      heard.push(chunk.toString());
      socket.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
  line = await startFaultyProxy(`tcp://127.0.0.1:${address.port}`);
});
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  line.stop();
  server.close();
});

async function call(): Promise<Socket> {
  const { port, hostname } = new URL(line.through('tcp://127.0.0.1:1'));
  const client = connect(Number(port), hostname);
  clients.push(client);
  client.on('error', () => undefined);
  await once(client, 'connect');
  return client;
}
const answer = async (client: Socket, text: string): Promise<string> => {
  client.write(text);
  const [chunk] = (await once(client, 'data')) as [Buffer];
  return chunk.toString();
};

/** Breaks one connection with the given fault. Searches for a seed with which the dice choose this fault. */
function breakAs(fault: (typeof faults)[number]): void {
  const seed = Array.from({ length: 1_000 }, (_, index) => index).find((candidate) => {
    const dice = new Dice(candidate);
    dice.pick(['the only connection']);
    return dice.pick(faults) === fault;
  });
  expect(line.breakOne(new Dice(seed ?? 0))).toBe(true);
  expect(line.broken[fault]).toBe(1);
}

describe('a faulty line', () => {
  it('carries everything while nothing breaks it', async () => {
    expect(await answer(await call(), 'hello')).toBe('hello');
    expect(line.broken).toEqual({ cut: 0, stalled: 0, muted: 0 });
  });

  it('has nothing to break while nobody calls', () => {
    expect(line.breakOne(new Dice(1))).toBe(false);
  });

  it('cuts a connection', async () => {
    const client = await call();
    await answer(client, 'hello');
    breakAs('cut');
    await once(client, 'close');
  });

  it('lets one that stalled go on with nothing missing', async () => {
    const client = await call();
    await answer(client, 'hello');
    breakAs('stalled');
    expect(await answer(client, 'again')).toBe('again');
  });

  it('cuts one that it muted, when the server has heard what nobody is answered', async () => {
    const client = await call();
    await answer(client, 'hello');
    breakAs('muted');
    const answers: Buffer[] = [];
    client.on('data', (chunk) => answers.push(chunk));
    client.write('do it');
    await once(client, 'close');
    expect(heard).toEqual(['hello', 'do it']);
    expect(answers).toEqual([]);
  });

  it('holds what has a text in it, and nothing before that', async () => {
    const client = await call();
    const reached = line.holdBefore('add', 10_000);
    expect(await answer(client, 'claim')).toBe('claim');
    client.write('add one');
    await reached;
    expect(heard).toEqual(['claim']);
  });
});

describe('dice', () => {
  it('fall the same way for the same seed, and another way for another', () => {
    const throws = (seed: number) => {
      const dice = new Dice(seed);
      return Array.from({ length: 20 }, () => dice.between(1, 6));
    };
    expect(throws(7)).toEqual(throws(7));
    expect(throws(7)).not.toEqual(throws(8));
    expect(new Set(throws(7)).size).toBeGreaterThan(3);
    expect(Math.min(...throws(7))).toBeGreaterThanOrEqual(1);
    expect(Math.max(...throws(7))).toBeLessThanOrEqual(6);
  });
});
