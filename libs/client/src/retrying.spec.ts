import {
  type CallOptions,
  MusterError,
  NoAnswer,
  type HttpOptions,
  httpTransport,
  retrying,
  type RetryOptions,
} from '@muster/client-core';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { createClient } from './client.ts';

type Answer = (response: ServerResponse) => void;

const json =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
const refused = (status: number, code: string, reason?: string, headers?: Record<string, string>): Answer =>
  json(status, { code, message: 'No.', status, requestId: 'r', details: { reason } }, headers);
const fine = json(200, { deleted: true });
const cut: Answer = (response) => {
  response.destroy();
};

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Starts a server that gives these answers in turn and repeats the last one. */
async function serve(
  answers: readonly Answer[],
  options?: RetryOptions & Pick<HttpOptions, 'answerSeconds'>,
) {
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers['idempotency-key'] as string | undefined);
    request.resume().on('end', () => answers[Math.min(keys.length, answers.length) - 1]?.(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close().closeAllConnections());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    keys,
    client: createClient(retrying(httpTransport({ ...options, baseUrl, token: 't' }), options)),
  };
}

describe('retrying', () => {
  it('goes on through cut connections, 429 and 503, under one key', async () => {
    const { client, keys } = await serve([
      cut,
      refused(503, 'unavailable'),
      refused(429, 'rate_limited'),
      json(502, { not: 'ours' }),
      refused(409, 'conflict', 'idempotency_in_flight'),
      fine,
    ]);
    expect(await client.stories.delete({ storyId: 'WEB-1' })).toEqual({ deleted: true });
    expect(keys).toHaveLength(6);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("keeps the caller's own key, and gives none to a read", async () => {
    const { client, keys } = await serve([fine]);
    await client.stories.delete({ storyId: 'WEB-1' }, { idempotencyKey: 'mine' });
    await client.stories.get({ storyId: 'WEB-1' });
    expect(keys).toEqual(['mine', undefined]);
  });

  it('gives a write a key where the caller says that it has none', async () => {
    const { client, keys } = await serve([cut, fine]);
    const options = { idempotencyKey: undefined } as unknown as CallOptions;
    await client.stories.delete({ storyId: 'WEB-1' }, options);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), keys[0]]);
  });

  it('goes on where no answer comes, nor an end of the connection', async () => {
    const none: Answer = () => undefined;
    const half: Answer = (response) => void response.writeHead(200).write('{"deleted"');
    const { client, keys } = await serve([none, half, fine], { answerSeconds: 0.2 });
    expect(await client.stories.delete({ storyId: 'WEB-1' })).toEqual({ deleted: true });
    expect(keys).toHaveLength(3);
  });

  it('takes a refusal for what it is', async () => {
    const { client, keys } = await serve([refused(409, 'conflict', 'lease_held')]);
    await expect(client.stories.delete({ storyId: 'WEB-1' })).rejects.toBeInstanceOf(MusterError);
    const { client: other, keys: others } = await serve([refused(409, 'conflict', 'reserved')]);
    await expect(other.stories.delete({ storyId: 'WEB-1' })).rejects.toMatchObject({ reason: 'reserved' });
    expect([keys.length, others.length]).toEqual([1, 1]);
  });

  it('waits for at least as long as it is asked to', async () => {
    const pauses: number[] = [];
    const { client } = await serve([refused(503, 'unavailable', undefined, { 'retry-after': '1' }), fine], {
      onRetry: (_, seconds) => pauses.push(seconds),
    });
    await client.stories.delete({ storyId: 'WEB-1' });
    expect(pauses).toHaveLength(1);
    expect(pauses[0]).toBeGreaterThanOrEqual(1);
  });

  it('throws the last failure when its time is over', async () => {
    const { client } = await serve([cut], { forSeconds: 0.3 });
    await expect(client.stories.delete({ storyId: 'WEB-1' })).rejects.toBeInstanceOf(NoAnswer);
    const { client: asked } = await serve([refused(503, 'unavailable', undefined, { 'retry-after': '60' })], {
      forSeconds: 5,
    });
    await expect(asked.stories.delete({ storyId: 'WEB-1' })).rejects.toMatchObject({ retryAfterSeconds: 60 });
  });
});
