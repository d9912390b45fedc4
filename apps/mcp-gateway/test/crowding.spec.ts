/** Requests with incomplete bodies take no capacity from other callers, and time out. */
import { once } from 'node:events';
import { type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from '@jest/globals';
import { bytesBeforeAnswer, sendPartialRequest } from '@muster/testing';
import { useGateway } from './gateway.ts';

/** Starts a gateway with a capacity of eight requests, four for each connection to the API. */
const gateway = useGateway({ API_CONNECTIONS: '2' });
const slotCount = 8;
const { world } = gateway;

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const send = async (token: string, length: number): Promise<Socket> => {
  const socket = await sendPartialRequest(gateway.url(), {
    path: '/api/mcp',
    token,
    contentLength: length,
    sentBody: '{',
  });
  sockets.push(socket);
  return socket;
};
const isAnswered = (socket: Socket): boolean => socket.bytesRead > bytesBeforeAnswer;

it('half-sent bodies, twice as many as there are places, keep nobody out, and are ended', async () => {
  const { ana, ben } = await world.org();
  // The first request occupies a request slot while the API identifies the caller. Later requests use the
  // cached identity.
  expect((await gateway.rpc(ana.me.token, 'ping')).status).toBe(200);
  const halves: Socket[] = [];
  for (let index = 0; index < 2 * slotCount; index += 1) halves.push(await send(ana.me.token, 100));
  for (const token of [ben.me.token, ana.me.token]) {
    expect((await gateway.rpc(token, 'ping')).status).toBe(200);
    expect((await gateway.tool(token, 'session_identity')).isError ?? false).toBe(false);
  }
  expect(halves.filter(isAnswered)).toEqual([]);
  for (const answer of await Promise.all(halves.map((socket) => text(socket)))) {
    expect(answer).toMatch(/^HTTP\/1.1 400 .*connection: close/is);
    expect(answer).toContain('"body_too_slow"');
  }
}, 30_000);

it('two large bodies of two tokens do not keep each other out', async () => {
  const { ana, ben } = await world.org();
  const filling = 'x'.repeat(7 * 1_024 * 1_024);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: { filling } } });
  const both = [await send(ana.me.token, body.length), await send(ben.me.token, body.length)];
  const answers = both.map(async (socket) => {
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    return bytes.toString().split('\r\n')[0];
  });
  // Both requests are in flight at the same time, and neither waits for the other.
  expect(both.filter(isAnswered)).toEqual([]);
  for (const socket of both.toReversed()) socket.write(body.slice(1));
  expect(await Promise.all(answers)).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK']);
});
