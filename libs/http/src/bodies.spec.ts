/**
 * Tests incomplete bodies on real sockets: they block no caller, are limited in number, and have a deadline.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { ApiError, internalError } from '@muster/contract';
import { createService, type Service } from './service.ts';

const services: Service[] = [];
const sockets: Socket[] = [];
afterAll(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(services.splice(0).map((service) => service.stop()));
});

/** Starts a service that returns the size of a body. The header `x-caller` identifies the sender. */
async function start(
  mostInFlight: number,
  logger = pino({ level: 'silent' }),
): Promise<{ service: Service; port: number; url: string }> {
  const service = createService({
    ...{ name: 'trial', logger, checks: [], maxInFlight: mostInFlight, trustProxy: false },
    toApiError: (error) => (error instanceof ApiError ? error : internalError()),
  });
  service.app.post(
    '/echo',
    {
      bodyLimit: 8 * 1024 * 1024,
      onRequest: async (request) => {
        const caller = request.headers['x-caller'];
        if (typeof caller === 'string') request.party = caller;
      },
    },
    (request) => ({ bytes: request.bodyBytes, wasOnItsWay: request.pendingBody !== null }),
  );
  services.push(service);
  const { address: url } = await service.listen({ HOST: '127.0.0.1', PORT: 0, METRICS_PORT: 0 });
  return { service, url, port: Number(new URL(url).port) };
}

interface PartialRequest {
  /** The local address of the sender. */
  readonly localAddress?: string;
  readonly caller?: string;
  readonly length?: number;
}

const continueResponse = 'HTTP/1.1 100 Continue\r\n\r\n';

/**
 * Sends a request whose body stops after its first byte. It returns when the service has received the
 * headers.
 */
async function sendPartialRequest(
  port: number,
  { localAddress: from = '127.0.0.1', caller, length = 100 }: PartialRequest = {},
): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, localAddress: from });
  sockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const headers = [
    'POST /echo HTTP/1.1',
    'Host: trial',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    'Expect: 100-continue',
    ...(caller === undefined ? [] : [`X-Caller: ${caller}`]),
  ];
  socket.write(`${headers.join('\r\n')}\r\n\r\n{`);
  let heard = null;
  while ((heard = socket.read(continueResponse.length) as Buffer | null) === null)
    await once(socket, 'readable');
  expect(heard.toString()).toBe(continueResponse);
  return socket;
}

/** Returns the response after the connection has ended. */
const readAnswer = (socket: Socket): Promise<string> => text(socket);

const sendPartialRequests = (url: string, count: number, headers: Record<string, string> = {}) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const answer = await fetch(`${url}/echo`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{"a":1}',
      });
      await answer.text();
      return answer.status;
    }),
  );

it('a body that comes with its headers is no body on its way; one that comes after them is', async () => {
  const { port } = await start(1);
  const whole = connect({ host: '127.0.0.1', port });
  sockets.push(whole);
  const headers = ['Host: trial', 'Connection: close', 'Content-Type: application/json', 'Content-Length: 7'];
  whole.write(`POST /echo HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n{"a":1}`);
  expect(await readAnswer(whole)).toMatch(/"wasOnItsWay":false/);
  const half = await sendPartialRequest(port, { length: 7 });
  half.end('"a":1}');
  expect(await readAnswer(half)).toMatch(/"wasOnItsWay":true/);
});

const cap = 60;
const addresses = Array.from({ length: 200 }, (_, index) => `127.0.${1 + (index >> 7)}.${1 + (index & 127)}`);

describe('twice as many half-sent bodies as there are places', () => {
  it.each([
    ['one address', (_: number) => '127.0.0.1'],
    ['two hundred addresses', (index: number) => addresses[index % addresses.length] ?? ''],
  ])('from %s keep nobody out, with a token or without', async (_title, addressOf) => {
    const { port, url } = await start(cap);
    for (let index = 0; index < Math.max(2 * cap, addresses.length); index += 1)
      await sendPartialRequest(port, { localAddress: addressOf(index) });
    expect(new Set(await sendPartialRequests(url, 20))).toEqual(new Set([200]));
    expect(new Set(await sendPartialRequests(url, 20, { 'x-caller': 'ana' }))).toEqual(new Set([200]));
  });

  it('of one who is known keep nobody out who sends more than comes with the headers', async () => {
    const { port, url } = await start(cap);
    for (let index = 0; index < 2 * cap; index += 1) await sendPartialRequest(port, { caller: 'ana' });
    const large = await fetch(`${url}/echo`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-caller': 'ben' },
      body: JSON.stringify('x'.repeat(900_000)),
    });
    expect([large.status, await large.json()]).toEqual([200, { bytes: 900_002, wasOnItsWay: true }]);
  });
});

/**
 * Each test waits several seconds for a timeout, on a service of its own, so that they can run concurrently.
 */
describe('in time', () => {
  it.concurrent('an address has a few bodies on their way, a caller more, and one too many hears so', async () => {
    const { port } = await start(cap);
    for (let index = 0; index < 8; index += 1) await sendPartialRequest(port);
    const ofAddress = readAnswer(await sendPartialRequest(port));
    for (let index = 0; index < 32; index += 1) await sendPartialRequest(port, { caller: 'ana' });
    const ofCaller = readAnswer(await sendPartialRequest(port, { caller: 'ana' }));
    expect(await ofAddress).toMatch(/^HTTP\/1.1 429 .*retry-after: 1.*too_many_bodies/is);
    expect(await ofCaller).toMatch(/^HTTP\/1.1 429 /);
    // The ninth sender has another address, so its body is accepted. A body of this size is counted
    // immediately.
    const body = JSON.stringify({ a: 'x'.repeat(70_000) });
    const other = await sendPartialRequest(port, { localAddress: '127.0.0.9', length: body.length });
    other.end(body.slice(1));
    expect(await readAnswer(other)).toMatch(/^HTTP\/1.1 200 /);
  });

  it.concurrent('what is on its way at once is bounded in bytes: of the largest three, and nothing smaller waits for them', async () => {
    const { port } = await start(cap);
    const length = 8 * 1024 * 1024 - 1;
    for (const caller of ['ana', 'ben', 'cleo']) await sendPartialRequest(port, { caller, length });
    expect(await readAnswer(await sendPartialRequest(port, { caller: 'dan', length }))).toMatch(
      /^HTTP\/1.1 503 .*"overload"/is,
    );
    const small = await sendPartialRequest(port, { caller: 'dan', length: 7 });
    small.end('"a":1}');
    expect(await readAnswer(small)).toMatch(/^HTTP\/1.1 200 /);
  });

  it.concurrent('a refused body that never ends is cut off', async () => {
    const { port } = await start(cap);
    const socket = connect({ host: '127.0.0.1', port });
    sockets.push(socket);
    const answer = readAnswer(socket);
    const headers = ['POST /echo HTTP/1.1', 'Host: trial', 'Content-Type: application/json'];
    socket.write(`${headers.join('\r\n')}\r\nContent-Length: 10485760\r\n\r\n{`);
    await expect(answer.catch((error: unknown) => (error as NodeJS.ErrnoException).code)).resolves.toMatch(
      /413|ECONNRESET/,
    );
    expect(socket.closed).toBe(true);
  }, 30_000);

  it.concurrent('a body that does not come in its time is answered, and its connection ends', async () => {
    const { port } = await start(cap);
    const answer = await readAnswer(await sendPartialRequest(port));
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toMatch(/connection: close/i);
    expect(answer).toContain('"reason":"body_too_slow"');
  }, 30_000);

  it.concurrent('headers that do not come in their time end the connection', async () => {
    const { port } = await start(cap);
    const socket = connect({ host: '127.0.0.1', port });
    sockets.push(socket);
    socket.write('POST /echo HTTP/1.1\r\nHost: tri');
    expect(await readAnswer(socket)).toContain('"reason":"request_too_slow"');
  }, 30_000);

  it.concurrent('a connection on which nothing was sent ends without an answer, which its first request would get', async () => {
    const { port } = await start(cap);
    const socket = connect({ host: '127.0.0.1', port });
    sockets.push(socket);
    expect(await readAnswer(socket)).toBe('');
  }, 30_000);
});

it('who leaves in the middle of a body gives back what it held, and is no fault of the service', async () => {
  const lines: string[] = [];
  const { port } = await start(cap, pino({}, { write: (line) => void lines.push(line) }));
  const halves = [];
  for (let index = 0; index < 8; index += 1) halves.push(await sendPartialRequest(port));
  for (const half of halves) half.destroy();
  for (let status = ''; !status.startsWith('HTTP/1.1 200');) {
    const socket = await sendPartialRequest(port, { length: 7 });
    socket.end('"a":1}');
    status = await readAnswer(socket);
  }
  const said = lines.map((line) => JSON.parse(line) as { msg: string; reason?: string });
  expect(said.filter(({ reason }) => reason === 'malformed_request')).toHaveLength(8);
  expect(said.filter(({ msg }) => msg === 'fault')).toEqual([]);
});

it('a body that is refused while it comes is read to its end, so that the answer arrives', async () => {
  const { port } = await start(cap);
  for (const framing of ['Content-Length: 10485760', 'Transfer-Encoding: chunked'])
    for (let round = 0; round < 10; round += 1) {
      const socket = connect({ host: '127.0.0.1', port });
      sockets.push(socket);
      const answer = readAnswer(socket);
      const headers = ['POST /echo HTTP/1.1', 'Host: trial', 'Content-Type: application/json', framing];
      socket.write(`${headers.join('\r\n')}\r\n\r\n`);
      const isChunked = framing.startsWith('Transfer');
      if (isChunked) socket.write('a00000\r\n');
      for (let sent = 0; sent < 10; sent += 1) socket.write(Buffer.alloc(1024 * 1024, 'x'));
      if (isChunked) socket.write('\r\n0\r\n\r\n');
      // The connection is still usable.
      socket.write('GET /livez HTTP/1.1\r\nHost: trial\r\nConnection: close\r\n\r\n');
      const said = await answer;
      expect(said).toMatch(/^HTTP\/1.1 413 /);
      expect(said).toContain('"reason":"body_too_large"');
      expect(said).toContain('HTTP/1.1 200 ');
    }
}, 30_000);
