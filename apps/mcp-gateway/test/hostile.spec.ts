// Bodies and long polls by which one caller could exhaust the capacity for others.
import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type People, waitUntil } from '@muster/testing';
import { useGateway } from './gateway.ts';

const connections = 16;
const gateway = useGateway({ API_CONNECTIONS: String(connections) });
const { world } = gateway;

const mebibyte = 1_024 * 1_024;
const unknown = 'must_test_00000000000000000000000000000000000000';
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/**
 * Sends a request that declares `length` bytes of body but contains only `body`, and keeps the connection
 * open.
 */
async function sendPartialRequest(
  token: string,
  length: number,
  body = '',
): Promise<{ answer: Promise<string> }> {
  const { hostname, port } = new URL(gateway.url());
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => undefined);
  const answer = once(socket, 'data').then(([chunk]) => String(chunk));
  await once(socket, 'connect');
  socket.write(
    `POST /api/mcp HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`,
  );
  return { answer };
}

describe('a body', () => {
  it('of a token that is not good is refused before any of it was sent', async () => {
    const { answer } = await sendPartialRequest(unknown, 7 * mebibyte);
    expect(await answer).toMatch(/^HTTP\/1.1 401/);
  });

  it('of more than is ever taken is refused before any of it was sent', async () => {
    const { ana } = await world.org();
    const { answer } = await sendPartialRequest(ana.me.token, 9 * mebibyte);
    expect(await answer).toMatch(/^HTTP\/1.1 413/);
  });

  it('is the only large one of its token, and takes no room from the usual ones of others', async () => {
    const { ana, ben } = await world.org();
    const half = await sendPartialRequest(ana.me.token, 8 * mebibyte, '{');
    const other = await sendPartialRequest(ana.me.token, 8 * mebibyte, '{');
    const second = await Promise.race([half.answer, other.answer]);
    expect(second).toMatch(/^HTTP\/1.1 429/);
    expect(second).toContain('"too_many_bodies"');
    expect((await gateway.rpc(ben.me.token, 'ping')).status).toBe(200);
    // Other calls of the caller with the half-sent bodies succeed as well.
    expect((await gateway.rpc(ana.me.token, 'ping')).status).toBe(200);
  });

  it('leaves room when its sender goes away', async () => {
    const { ana } = await world.org();
    await sendPartialRequest(ana.me.token, 8 * mebibyte, '{');
    sockets[0]?.destroy();
    const large = JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'ping' },
      params: { _meta: { filling: 'x'.repeat(7 * mebibyte) } },
    });
    let status = 0;
    await waitUntil(async () => {
      const headers = { authorization: `Bearer ${ana.me.token}`, 'content-type': 'application/json' };
      ({ status } = await gateway.send({ headers, body: large }));
      return status !== 429;
    });
    expect(status).toBe(200);
  });

  it.each([
    ['8 MiB', Math.floor((7.9 * mebibyte) / 3)],
    ['256 KiB', 80_000],
  ])('of %s full of tiny values is refused without making them', async (_title, count) => {
    const { ana } = await world.org();
    const args = `{"a":[${Array.from({ length: count }, () => '[]').join(',')}]}`;
    const { status, body } = await gateway.send({
      headers: { authorization: `Bearer ${ana.me.token}`, 'content-type': 'application/json' },
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":${args}}}`,
    });
    expect([status, body.details?.reason]).toEqual([413, 'too_many_values']);
  });
});

describe('calls that wait', () => {
  async function work(): Promise<People & { executionId: string }> {
    const people = await world.org();
    const api = gateway.apiClient(people.ana.me.token);
    await api.projects.create({ key: 'WEB', name: 'Web' });
    const { story } = await api.stories.create({ projectId: 'WEB', title: 'One', status: 'ready' });
    const { execution } = await api.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: story.id, runId: 'run', ttlSeconds: 900 },
    });
    return { ...people, executionId: execution.id };
  }
  const reasonIn = (answer: Awaited<ReturnType<typeof gateway.tool>>): unknown =>
    answer.structuredContent.error?.details?.reason;

  it('are eight of a token at most, and others are answered meanwhile', async () => {
    const { ana, dan, executionId } = await work();
    const leaving = new AbortController();
    const args = { executionId, afterSeq: 1_000, waitSeconds: 25 };
    const refused: unknown[] = [];
    const asked = Array.from({ length: connections }, async () => {
      const answer = await gateway.tool(dan.me.token, 'deliveryExecutions_eventsSince', args, {
        signal: leaving.signal,
      });
      refused.push(reasonIn(answer));
    });
    await waitUntil(() => refused.length >= connections - 8);
    const { isError } = await gateway.tool(ana.me.token, 'stories_get', { storyId: 'WEB-1' });
    expect([isError ?? false, refused]).toEqual([
      false,
      Array.from({ length: connections - 8 }, () => 'too_many_waiting'),
    ]);
    // A caller that disconnects frees its request slot, because the gateway aborts its request to the API.
    leaving.abort();
    await Promise.allSettled(asked);
    const short = { ...args, waitSeconds: 1 };
    await waitUntil(async () => {
      const answer = await gateway.tool(dan.me.token, 'deliveryExecutions_eventsSince', short);
      return answer.isError !== true;
    });
  });

  it('are told for how long to leave it', async () => {
    const { ana, executionId } = await work();
    const leaving = new AbortController();
    const args = { executionId, afterSeq: 1_000, waitSeconds: 25 };
    const wait = () =>
      gateway.tool(ana.me.token, 'deliveryExecutions_eventsSince', args, { signal: leaving.signal });
    const first = await Promise.race(Array.from({ length: 9 }, wait));
    leaving.abort();
    expect(first.structuredContent.error).toMatchObject({
      ...{ code: 'rate_limited', status: 429, hint: expect.stringContaining('Wait 5 s') },
      details: { reason: 'too_many_waiting', retryable: true, retryAfterSeconds: 5 },
    });
  });
});
