// The API counts the calls of each token; the gateway reports the result.
import { expect, it } from '@jest/globals';
import { useGateway } from './gateway.ts';

const gateway = useGateway({ LIMIT_LISTS: '3/3600' }, { LIMIT_TOKEN: '5/3600' });

it('tells a model for how long to wait when it has called too often', async () => {
  const { ana, ben } = await gateway.world.org();
  const look = (token: string) => gateway.tool(token, 'session_identity');
  let answer = await look(ana.me.token);
  expect(answer.isError ?? false).toBe(false);
  for (let call = 1; call <= 5; call += 1) answer = await look(ana.me.token);
  const { error } = answer.structuredContent;
  expect(error).toMatchObject({
    ...{ code: 'rate_limited', status: 429 },
    details: { reason: 'token_limit', retryable: true },
  });
  const seconds = Number(error?.details?.['retryAfterSeconds']);
  expect(seconds).toBeGreaterThan(3_000);
  expect(error?.hint).toBe(`Wait ${seconds} s and call again with the same arguments.`);
  expect((await look(ben.me.token)).isError ?? false).toBe(false);
});

it('counts what the API is never asked for by itself: lists, greetings, tools that do not exist', async () => {
  const { ana, ben } = await gateway.world.org();
  const list = (token: string) => gateway.rpc(token, 'tools/list');
  expect((await list(ana.me.token)).status).toBe(200);
  expect((await gateway.rpc(ana.me.token, 'ping')).status).toBe(200);
  expect((await gateway.rpc(ana.me.token, 'tools/call', { name: 'nothing' })).status).toBe(200);
  const { status, headers, body } = await list(ana.me.token);
  expect([status, body.code, body.details?.reason]).toEqual([429, 'rate_limited', 'token_limit']);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(3_000);
  // A tool call gets its error as a result, which the model reads.
  for (const name of ['search_operations', 'nothing']) {
    const call = await gateway.rpc(ana.me.token, 'tools/call', { name, arguments: { query: 'x' } });
    expect([call.status, call.body.result]).toEqual([
      200,
      expect.objectContaining({
        isError: true,
        structuredContent: {
          error: expect.objectContaining({
            details: expect.objectContaining({ reason: 'token_limit', retryable: true }),
            hint: expect.stringMatching(/^Wait \d+ s and call again/),
          }),
        },
      }),
    ]);
  }
  // The API limits tool calls, so the gateway's own limit does not apply to them.
  expect((await gateway.tool(ana.me.token, 'session_identity')).isError ?? false).toBe(false);
  expect((await list(ben.me.token)).status).toBe(200);
});
