// A token is the caller's own, so the API counts its calls; the gateway says what came of that.
import { expect, it } from '@jest/globals';
import { useGateway } from './gateway.ts';

const gateway = useGateway({}, { LIMIT_TOKEN: '5/3600' });

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
