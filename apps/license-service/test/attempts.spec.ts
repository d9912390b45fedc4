/**
 * Tests that guesses of a key are rate-limited, also without Redis. The machine that holds the license is not
 * limited.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type SpecRedis, startSpecRedis } from '@muster/testing';
import { generateKey } from '../src/key/key.ts';
import {
  type HttpAnswer,
  type LicenseWorld,
  noLimits,
  openLicenseWorld,
  type RunningService,
  waitUntil,
} from './world.ts';

let world: LicenseWorld;
let redis: SpecRedis;

beforeAll(async () => {
  [world, redis] = await Promise.all([openLicenseWorld(), startSpecRedis()]);
});
afterAll(async () => {
  redis.resume();
  await redis.kill();
  await world.close();
});

/**
 * A long timeout for Redis. On a busy machine Redis may be slow. The service would then count in memory,
 * starting from zero.
 */
const longTimeoutEnvironment = { LIMIT_TIMEOUT_MILLIS: '5000' };

/** Starts a service that trusts the X-Forwarded-For headers of this test process. */
const start = (environment: Record<string, string> = {}): Promise<RunningService> =>
  world.start({
    environment: {
      ...noLimits,
      ...longTimeoutEnvironment,
      REDIS_URL: redis.url,
      TRUST_PROXY: '127.0.0.1',
      ...environment,
    },
  });

const forwardedForHeader = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });

async function statusesOf(count: number, ask: (index: number) => Promise<HttpAnswer>): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1) statuses.push((await ask(index)).status);
  return statuses;
}

const repeatValue = <Value>(count: number, value: Value): Value[] =>
  Array.from({ length: count }, () => value);

const conditions: [string, () => Promise<void>, () => Promise<void>][] = [
  ['up', async () => undefined, async () => undefined],
  ['hung', async () => redis.suspend(), async () => redis.resume()],
  ['dead', () => redis.kill(), () => redis.restart()],
];

describe.each(conditions)('while Redis is %s', (word, begin, end) => {
  const timeout: Record<string, string> = word === 'up' ? {} : { LIMIT_TIMEOUT_MILLIS: '50' };
  beforeAll(begin);
  afterAll(end);

  it('whoever guesses keys is stopped, and others at the same time are not', async () => {
    const service = await start({ ...timeout, LIMIT_IP_FAIL: '5/3600' });
    const { key } = await world.issue();
    expect(
      await statusesOf(8, () => service.activate(generateKey(), 'm', forwardedForHeader('192.0.2.1'))),
    ).toEqual([...repeatValue(5, 404), ...repeatValue(3, 429)]);
    expect((await service.activate(generateKey(), 'm', forwardedForHeader('192.0.2.2'))).status).toBe(404);
    expect((await service.activate(key, 'm', forwardedForHeader('192.0.2.3'))).status).toBe(200);
  });

  it('whoever tries machines on a key is stopped from anywhere, and its machine never is', async () => {
    const service = await start({ ...timeout, LIMIT_KEY_FAIL: '5/3600' });
    const { key } = await world.issue();
    expect((await service.activate(key, 'rightful')).status).toBe(200);
    // Makes a guess of the key from an address of its own.
    const guess = (index: number) =>
      service.activate(key, `guess-${index}`, forwardedForHeader(`198.51.100.${index}`));
    expect(await statusesOf(8, guess)).toEqual([...repeatValue(5, 409), ...repeatValue(3, 429)]);
    const check = await service.check(key, 'guess', forwardedForHeader('198.51.100.99'));
    expect(check.status).toBe(429);
    expect(
      await statusesOf(30, () => service.activate(key, 'rightful', forwardedForHeader('203.0.113.1'))),
    ).toEqual(repeatValue(30, 200));
    expect(
      await statusesOf(30, () => service.check(key, 'rightful', forwardedForHeader('203.0.113.1'))),
    ).toEqual(repeatValue(30, 200));
    // The limit still applies to machines that do not hold the license.
    expect((await guess(100)).status).toBe(429);
  });

  it('success costs no failure: the rightful machine may ask as often as anybody', async () => {
    const service = await start({ ...timeout, LIMIT_IP_FAIL: '3/3600', LIMIT_KEY_FAIL: '3/3600' });
    const { key } = await world.issue();
    expect(await statusesOf(20, () => service.activate(key, 'm', forwardedForHeader('192.0.2.50')))).toEqual(
      repeatValue(20, 200),
    );
    // Each successful call returns its token separately, so concurrent calls lose no token.
    await Promise.all(repeatValue(3, 0).map(() => service.check(key, 'm', forwardedForHeader('192.0.2.50'))));
    expect((await service.check(key, 'm', forwardedForHeader('192.0.2.50'))).status).toBe(200);
  });

  it('a burst is let through, and no more than that, however many ask at once', async () => {
    const service = await start({ ...timeout, LIMIT_IP: '6/3600' });
    const answers = await Promise.all(
      repeatValue(20, 0).map(() => service.activate(generateKey(), 'm', forwardedForHeader('192.0.2.80'))),
    );
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(6);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(14);
  });
});

it('tells how things stand, and when to come back', async () => {
  const service = await start({ LIMIT_IP: '2/30', LIMIT_IP_FAIL: '4/60', LIMIT_KEY_FAIL: '4/120' });
  const address = forwardedForHeader('192.0.2.100');
  const first = await service.activate(generateKey(), 'm', address);
  expect(first.headers.get('ratelimit-policy')).toBe(
    '"ip";q=2;w=60, "ip_fail";q=4;w=240, "key_fail";q=4;w=480',
  );
  expect(first.headers.get('ratelimit')).toBe('"ip";r=1;t=30, "ip_fail";r=3;t=60, "key_fail";r=3;t=120');
  await service.activate(generateKey(), 'm', address);
  const refused = await service.activate(generateKey(), 'm', address);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(25);
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(30);
  expect(refused.headers.get('license-verdict')).toBe('retry');
  expect(refused.json).toMatchObject({
    code: 'rate_limited',
    details: { reason: 'too_many_attempts', retryable: true },
  });
  // The limiter takes tokens from all buckets or from none, so the refused attempt took no failure token.
  expect(refused.headers.get('ratelimit')).toContain('"ip_fail";r=2;');
});

it('counts what is no key among the attempts of an address, and not as a failure', async () => {
  const service = await start({ LIMIT_IP: '4/3600', LIMIT_IP_FAIL: '1/3600' });
  expect(
    await statusesOf(6, () => service.activate('nonsense', 'm', forwardedForHeader('192.0.2.120'))),
  ).toEqual([...repeatValue(4, 400), ...repeatValue(2, 429)]);
});

it('takes an IPv6 network for one, an IPv4 address for itself, and checks apart from activations', async () => {
  const service = await start({ LIMIT_IP: '2/3600', LIMIT_CHECK: '2/3600' });
  const ask = (address: string) =>
    service.activate(generateKey(), 'm', forwardedForHeader(address)).then(({ status }) => status);
  expect(await ask('2001:db8:1:2::1')).toBe(404);
  expect(await ask('2001:db8:1:2:ffff::2')).toBe(404);
  expect(await ask('2001:db8:1:2:3:4:5:6')).toBe(429);
  expect(await ask('2001:db8:1:3::1')).toBe(404);
  expect(await ask('192.0.2.130')).toBe(404);
  expect(await ask('::ffff:192.0.2.130')).toBe(404);
  expect(await ask('192.0.2.130')).toBe(429);
  expect((await service.check(generateKey(), 'm', forwardedForHeader('192.0.2.130'))).status).toBe(404);
});

describe('the address of a caller', () => {
  const burst = { LIMIT_IP: '1/3600' };
  const ask = (service: RunningService, address: string) =>
    service.activate(generateKey(), 'm', forwardedForHeader(address)).then(({ status }) => status);

  it('is what a trusted proxy says, and of several the last that is not trusted', async () => {
    const service = await start({ ...burst, TRUST_PROXY: '127.0.0.1,10.0.0.0/8' });
    expect(await ask(service, '192.0.2.140, 10.1.2.3')).toBe(404);
    expect(await ask(service, '9.9.9.9, 192.0.2.140, 10.9.9.9')).toBe(429);
  });

  it('is what stands as many hops away as there are proxies', async () => {
    const service = await start({ ...burst, TRUST_PROXY: '1' });
    expect(await ask(service, '9.9.9.9, 192.0.2.150')).toBe(404);
    expect(await ask(service, '8.8.8.8, 192.0.2.150')).toBe(429);
  });

  it('is that of the connection where nobody is trusted', async () => {
    const service = await start({ ...burst, TRUST_PROXY: '' });
    expect(await ask(service, '192.0.2.160')).toBe(404);
    expect(await ask(service, '192.0.2.161')).toBe(429);
  });
});

it('goes back to Redis when it is there again', async () => {
  const service = await start({ LIMIT_IP: '3/3600' });
  const ask = () => service.activate(generateKey(), 'm', forwardedForHeader('192.0.2.170'));
  const leftOf = (answer: HttpAnswer): string | undefined =>
    /"ip";r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1];
  expect(leftOf(await ask())).toBe('2');
  redis.suspend();
  expect(leftOf(await ask())).toBe('2');
  redis.resume();
  // Redis counts again. It still has the attempt from before its outage.
  await waitUntil(async () => (await ask()).status === 429);
});
