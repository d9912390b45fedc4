/** Rate limits: no caller exceeds them, affects other callers, or waits for an unavailable Redis. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RateLimitedError } from '@muster/client';
import { type AllHandlers } from '@muster/operations';
import { type SpecRedis, type People, type Person, startSpecRedis, waitUntil } from '@muster/testing';
import { type RawAnswer, useApi } from './api.ts';

const api = useApi();
type ApiReplica = Awaited<ReturnType<typeof api.startReplica>>;

let redis: SpecRedis;
beforeAll(async () => {
  redis = await startSpecRedis();
});
afterAll(async () => {
  redis.resume();
  await redis.kill();
});

const replicas: ApiReplica[] = [];
afterEach(async () => {
  await Promise.all(replicas.splice(0).map((copy) => copy.stop()));
});

/** A long timeout, so that the result depends on Redis alone even on a busy machine. */
const longTimeoutEnvironment = { LIMIT_TIMEOUT_MILLIS: '5000' };

/** Starts another API that shares only Postgres and Redis, like a separate process. */
const start = async (environment: Record<string, string>): Promise<ApiReplica> => {
  const copy = await api.startReplica({ REDIS_URL: redis.url, ...environment });
  replicas.push(copy);
  return copy;
};

/** Starts two APIs that are both connected to Redis. */
const startTwo = async (environment: Record<string, string>): Promise<[ApiReplica, ApiReplica]> => {
  const [one, other] = await Promise.all([start(environment), start(environment)]);
  await waitUntil(async () => {
    const { ana } = await api.org();
    const before = remainingOf(await callIdentity(one, ana), 'token');
    return remainingOf(await callIdentity(other, ana), 'token') === before - 1;
  });
  return [one, other];
};

let people: People<AllHandlers>;
beforeEach(async () => {
  people = await api.org();
});

const callIdentity = (copy: ApiReplica, { me }: Person<AllHandlers>): Promise<RawAnswer> =>
  copy.call(me.token, 'session.identity');

async function statusesOf(count: number, next: (index: number) => Promise<RawAnswer>): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1) statuses.push((await next(index)).status);
  return statuses;
}

const repeatValue = <Value>(count: number, value: Value): Value[] =>
  Array.from({ length: count }, () => value);

const remainingOf = (answer: RawAnswer, name: string): number =>
  Number(new RegExp(`"${name}";r=(\\d+)`).exec(answer.headers.get('ratelimit') ?? '')?.[1]);

describe('while Redis is up', () => {
  it('a token has so many calls, and no more than that, by whichever copy', async () => {
    const [one, other] = await startTwo({ ...longTimeoutEnvironment, LIMIT_TOKEN: '10/3600' });
    const { ana } = people;
    expect(await statusesOf(14, (index) => callIdentity(index % 2 === 0 ? one : other, ana))).toEqual([
      ...repeatValue(10, 200),
      ...repeatValue(4, 429),
    ]);
  });

  it('a burst at all copies at once is let through, and no more than that', async () => {
    const [one, other] = await startTwo({ ...longTimeoutEnvironment, LIMIT_TOKEN: '10/3600' });
    const answers = await Promise.all(
      repeatValue(30, 0).map((_, index) => callIdentity(index % 2 === 0 ? one : other, people.ana)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  it('what a copy counts by itself the others come to know, down to the last call', async () => {
    const [one, other] = await startTwo({ ...longTimeoutEnvironment, LIMIT_TOKEN: '400/3600' });
    const { ana } = people;
    expect(await statusesOf(200, () => callIdentity(one, ana))).toEqual(repeatValue(200, 200));
    let asked = 200;
    await waitUntil(async () => {
      asked += 1;
      return remainingOf(await callIdentity(other, ana), 'token') === 400 - asked;
    });
    const rest = repeatValue(400 - asked, 200);
    expect(
      await statusesOf(rest.length, (index) => callIdentity(index % 2 === 0 ? one : other, ana)),
    ).toEqual(rest);
    expect([(await callIdentity(one, ana)).status, (await callIdentity(other, ana)).status]).toEqual([
      429, 429,
    ]);
  });
});

const conditions: [string, () => Promise<void>, () => Promise<void>][] = [
  ['up', async () => undefined, async () => undefined],
  ['hung', async () => redis.suspend(), async () => redis.resume()],
  ['dead', () => redis.kill(), () => redis.restart()],
];

describe.each(conditions)('while Redis is %s', (word, begin, end) => {
  const timeout = word === 'up' ? longTimeoutEnvironment : {};
  beforeAll(begin);
  afterAll(end);

  it('another token of the same organization goes on, until the organization has had its share', async () => {
    const copy = await start({ ...timeout, LIMIT_TOKEN: '5/3600', LIMIT_ORGANIZATION: '12/3600' });
    const { ana, ben, chloe } = people;
    expect(await statusesOf(7, () => callIdentity(copy, ana))).toEqual([
      ...repeatValue(5, 200),
      ...repeatValue(2, 429),
    ]);
    expect(await statusesOf(6, () => callIdentity(copy, ben))).toEqual([...repeatValue(5, 200), 429]);
    // A call refused by the token's limit does not count against the organization's.
    expect(await statusesOf(4, () => callIdentity(copy, chloe))).toEqual([
      ...repeatValue(2, 200),
      ...repeatValue(2, 429),
    ]);
    const others = await api.org();
    expect(await statusesOf(5, () => callIdentity(copy, others.ana))).toEqual(repeatValue(5, 200));
  });

  it('who has no calls left still keeps a lease', async () => {
    const copy = await start({ ...timeout, LIMIT_TOKEN: '3/3600' });
    const { ana } = people;
    await statusesOf(4, () => callIdentity(copy, ana));
    const renewal = await copy.call(ana.me.token, 'deliveryExecutions.renew', {
      executionId: people.orgId,
      leaseToken: 'x'.repeat(43),
    });
    // The lease does not exist, and the error says so.
    expect([renewal.status, remainingOf(renewal, 'renewal')]).toEqual([404, 2]);
    expect((await callIdentity(copy, ana)).status).toBe(429);
  });
});

it('answers every call though Redis hangs, dies and comes back, and counts all the while', async () => {
  const copy = await start({ LIMIT_TOKEN: '250/3600' });
  const { ana } = people;
  const statuses: number[] = [];
  const go = async (count: number): Promise<void> => {
    statuses.push(...(await statusesOf(count, () => callIdentity(copy, ana))));
  };
  // From the 150th call on, the limiter asks Redis about each call.
  await go(160);
  redis.suspend();
  await go(10);
  redis.resume();
  await go(10);
  await redis.kill();
  await go(10);
  await redis.restart();
  await go(10);
  expect(statuses).toEqual(repeatValue(200, 200));
  // A restarted Redis knows no earlier calls, except those that this process has counted in the meantime.
  await waitUntil(async () => (await callIdentity(copy, ana)).status === 429);
});

it('tells how things stand, and when to come back, in the words of the standard', async () => {
  const copy = await start({ ...longTimeoutEnvironment, LIMIT_TOKEN: '2/30', LIMIT_ORGANIZATION: '50/0.5' });
  const { ana } = people;
  const first = await callIdentity(copy, ana);
  expect(first.headers.get('ratelimit-policy')).toBe('"token";q=2;w=60, "organization";q=50;w=25');
  expect(first.headers.get('ratelimit')).toBe('"token";r=1;t=30, "organization";r=49;t=1');
  await callIdentity(copy, ana);
  const refused = await callIdentity(copy, ana);
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(30);
  expect([refused.status, refused.body]).toEqual([
    429,
    {
      code: 'rate_limited',
      message: 'Too many calls with this token.',
      status: 429,
      requestId: refused.headers.get('x-request-id'),
      details: {
        ...{ reason: 'token_limit', retryAfterSeconds: seconds, retryable: true },
      },
    },
  ]);
  // The rate limit window ends when the caller may retry.
  expect(refused.headers.get('ratelimit')).toContain(`"token";r=0;t=${seconds}`);
  await expect(copy.client(ana.me.token).session.identity({})).rejects.toBeInstanceOf(RateLimitedError);
  expect(await copy.metrics()).toMatch(/muster_errors_total\{[^}]*reason="token_limit"[^}]*\} 2/);
});
