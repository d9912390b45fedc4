/**
 * Tests a service over real HTTP: health, the concurrency limit, errors, and stopping without failed
 * requests.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ApiError, internalError } from '@muster/contract';
import { type FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { acceptsHtml, errorTitle } from './error-answers.ts';
import { createService, type Service } from './service.ts';

const runningServices: Service[] = [];
afterEach(async () => {
  await Promise.all(runningServices.splice(0).map((service) => service.stop()));
});

type Options = Partial<Parameters<typeof createService>[0]>;

/** Starts a service with a route that waits for a signal, and one that fails. */
async function start(options: Options = {}): Promise<{
  service: Service;
  url: string;
  metrics: () => Promise<string>;
  finishRequests: () => void;
  waitForRequestCount: (count: number) => Promise<void>;
}> {
  const service = createService({
    name: 'trial',
    logger: pino({ level: 'silent' }),
    checks: [],
    maxInFlight: 100,
    trustProxy: false,
    toApiError: (error) => (error instanceof ApiError ? error : internalError()),
    ...options,
  });
  const gate = Promise.withResolvers<undefined>();
  let waiting = 0;
  service.app.get('/slow', async () => {
    waiting += 1;
    await gate.promise;
    return { done: true };
  });
  service.app.get('/urgent', { config: { isUrgent: true } }, async () => {
    waiting += 1;
    await gate.promise;
    return { done: true };
  });
  service.app.get('/answers', { config: { isUrgent: true } }, async () => ({ done: true }));
  service.app.get('/fails', async () => {
    throw new Error('the secret inside');
  });
  runningServices.push(service);
  const { address: url, metricsAddress } = await service.listen({
    ...{ HOST: '127.0.0.1', PORT: 0, METRICS_PORT: 0 },
  });
  return {
    service,
    url,
    metrics: async () => (await fetch(`${metricsAddress}/metrics`)).text(),
    finishRequests: () => {
      gate.resolve(undefined);
    },
    waitForRequestCount: async (count) => {
      while (waiting < count) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('health', () => {
  const check = (name: string, needed: boolean, well: boolean) => ({
    name,
    needed,
    run: async () => (well ? undefined : 'away'),
  });

  it.each([
    ['all is well', [check('a', true, true), check('b', false, true)], 200, 'ready'],
    [
      'something is away that it can do without',
      [check('a', true, true), check('b', false, false)],
      200,
      'degraded',
    ],
    ['something is away that it needs', [check('a', true, false), check('b', false, true)], 503, 'not_ready'],
  ])('when %s', async (_title, checks, status, word) => {
    const { url } = await start({ checks });
    const answer = await fetch(`${url}/readyz`);
    expect([answer.status, ((await answer.json()) as { status: string }).status]).toEqual([status, word]);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
  });

  it('takes a check that hangs or throws for away', async () => {
    const hangs = { name: 'hangs', needed: true, run: () => new Promise<undefined>(() => undefined) };
    const throws = { name: 'throws', needed: false, run: () => Promise.reject(new Error('no')) };
    const { url } = await start({ checks: [hangs, throws] });
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({
      status: 'not_ready',
      checks: { hangs: 'away', throws: 'away' },
    });
  });

  it('logs what is wrong when it begins, and when it is over; it warns of what was there before', async () => {
    const lines: { level: number; dependency?: string; why?: string; msg: string }[] = [];
    const logger = pino(
      { level: 'info' },
      { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
    );
    let fault: string | undefined = 'the database schema is out of date; run the migrations';
    const { url } = await start({
      logger,
      checks: [{ name: 'postgres', needed: true, run: async () => fault }],
    });
    const look = async () => {
      await fetch(`${url}/readyz`);
      await pause(1_050);
    };
    await look();
    await look();
    fault = undefined;
    await look();
    fault = 'it is too old';
    await look();
    expect(lines.filter(({ dependency }) => dependency === 'postgres')).toMatchObject([
      {
        level: 30,
        why: 'the database schema is out of date; run the migrations',
        msg: 'a dependency of the service is unavailable',
      },
      { level: 30, msg: 'all dependencies of the service are available again' },
      { level: 40, why: 'it is too old', msg: 'a dependency of the service is unavailable' },
    ]);
  });

  it('asks again after a second also where the clock of the machine was set back', async () => {
    let isThere = true;
    const { url } = await start({
      checks: [{ name: 'a', needed: true, run: async () => (isThere ? undefined : 'gone') }],
    });
    const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    try {
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
    } finally {
      now.mockRestore();
    }
    isThere = false;
    await pause(1_050);
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
  });

  it('asks what it stands on at most once a second, however often it is asked', async () => {
    let asked = 0;
    const counts = { name: 'counts', needed: true, run: async () => void (asked += 1) };
    const { url } = await start({ checks: [counts] });
    const began = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => fetch(`${url}/readyz`)));
    expect(asked).toBeLessThanOrEqual(2 + Math.floor((performance.now() - began) / 1_000));
  });
});

describe('the cap', () => {
  it('answers 503 with Retry-After past it, keeps answering health, and recovers', async () => {
    const {
      url,
      metrics,
      finishRequests: finish,
      waitForRequestCount: reached,
    } = await start({ maxInFlight: 3 });
    const slow = Array.from({ length: 3 }, () => fetch(`${url}/slow`));
    await reached(3);
    const refused = await fetch(`${url}/slow`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({
      code: 'unavailable',
      details: { reason: 'overload', retryable: true },
    });
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    expect(await metrics()).toContain(
      'muster_errors_total{operation="none",code="unavailable",reason="overload",service="trial"} 1',
    );
    finish();
    expect((await Promise.all(slow)).map((answer) => answer.status)).toEqual([200, 200, 200]);
    expect((await fetch(`${url}/slow`)).status).toBe(200);
  });

  it('has as many places again for what is urgent, and no more than that', async () => {
    const { url, finishRequests: finish, waitForRequestCount: reached } = await start({ maxInFlight: 2 });
    const slow = [1, 2].map(() => fetch(`${url}/slow`));
    await reached(2);
    const urgent = [1, 2].map(() => fetch(`${url}/urgent`));
    await reached(4);
    expect([(await fetch(`${url}/slow`)).status, (await fetch(`${url}/urgent`)).status]).toEqual([503, 503]);
    finish();
    expect((await Promise.all([...slow, ...urgent])).map(({ status }) => status)).toEqual([
      200, 200, 200, 200,
    ]);
  });

  it('counts the work of those who went away, until it is done', async () => {
    const { url, finishRequests: finish, waitForRequestCount: reached } = await start({ maxInFlight: 2 });
    const gone = new AbortController();
    const slow = [1, 2].map(() => fetch(`${url}/slow`, { signal: gone.signal }).catch(() => undefined));
    await reached(2);
    gone.abort();
    await Promise.all(slow);
    // The work of the two disconnected callers continues and occupies both slots.
    expect((await fetch(`${url}/slow`)).status).toBe(503);
    finish();
    let status = 503;
    while (status === 503) {
      await pause(5);
      status = (await fetch(`${url}/slow`)).status;
    }
    expect(status).toBe(200);
  });
});

describe('a copy that is full for long', () => {
  let passed = 0;
  beforeEach(() => {
    passed = 0;
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + passed);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  const readiness = async (url: string): Promise<unknown[]> => {
    const answer = await fetch(`${url}/readyz`);
    return [answer.status, await answer.json()];
  };

  it('is not ready while nothing in it moves, and is again when something does', async () => {
    const { url, finishRequests: finish, waitForRequestCount: reached } = await start({ maxInFlight: 1 });
    const slow = fetch(`${url}/slow`);
    await reached(1);
    expect(await readiness(url)).toEqual([200, { status: 'ready', checks: {} }]);
    passed += 6_000;
    expect(await readiness(url)).toEqual([503, { status: 'not_ready', checks: { places: 'full' } }]);
    finish();
    await slow;
    expect(await readiness(url)).toEqual([200, { status: 'ready', checks: {} }]);
  });

  it('says so and stays ready while it answers some and turns others away', async () => {
    const { url, finishRequests: finish, waitForRequestCount: reached } = await start({ maxInFlight: 1 });
    const urgent = fetch(`${url}/urgent`);
    await reached(1);
    for (let second = 0; second <= 6; second += 1) {
      expect((await fetch(`${url}/fails`)).status).toBe(503);
      // This request is urgent, so it still gets a slot and is answered.
      expect((await fetch(`${url}/answers`)).status).toBe(200);
      passed += 1_000;
    }
    expect(await readiness(url)).toEqual([200, { status: 'degraded', checks: { places: 'full' } }]);
    finish();
    await urgent;
  });
});

describe('metrics', () => {
  it('are on a port of their own, and nowhere else', async () => {
    const { url, metrics } = await start();
    expect(await metrics()).toContain('muster_requests_in_flight{service="trial"} 0');
    const answer = await fetch(`${url}/metrics`);
    expect([answer.status, await answer.text()]).toEqual([404, expect.not.stringContaining('muster_')]);
  });
});

describe('errors', () => {
  it('say nothing of the inside', async () => {
    const { url } = await start();
    const answer = await fetch(`${url}/fails`);
    const text = await answer.text();
    expect(answer.status).toBe(500);
    expect(JSON.parse(text)).toEqual({
      code: 'internal',
      message: 'Something went wrong on the server.',
      status: 500,
      requestId: answer.headers.get('x-request-id'),
      details: { reason: 'internal', retryable: false },
    });
    expect(text).not.toContain('secret');
  });

  it('are JSON also where nothing answers', async () => {
    const { url } = await start();
    const answer = await fetch(`${url}/nothing`);
    expect([answer.status, await answer.json()]).toEqual([
      404,
      expect.objectContaining({ code: 'not_found', details: { reason: 'no_such_path', retryable: false } }),
    ]);
  });
});

describe('errors in a browser', () => {
  const errorPage = (request: FastifyRequest, { status }: ApiError) =>
    acceptsHtml(request)
      ? { headers: { 'content-type': 'text/html; charset=utf-8' }, body: `<h1>${errorTitle(status)}</h1>` }
      : undefined;
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';

  it('are a page, and JSON for programs, at a missing path, after a fault and under overload', async () => {
    const {
      url,
      finishRequests: finish,
      waitForRequestCount: reached,
    } = await start({ renderErrorPage: errorPage, maxInFlight: 1 });
    const answerOf = async (address: string, headers: Record<string, string>) => {
      const answer = await fetch(url + address, { headers });
      return [answer.status, answer.headers.get('content-type')?.split(';')[0], await answer.text()];
    };
    expect(await answerOf('/nothing', { accept })).toEqual([404, 'text/html', '<h1>Page not found</h1>']);
    expect(await answerOf('/fails', { accept })).toEqual([500, 'text/html', '<h1>Something went wrong</h1>']);
    const slow = fetch(`${url}/slow`);
    await reached(1);
    const busy = await fetch(`${url}/slow`, { headers: { accept } });
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await busy.text()).toBe('<h1>Temporarily unavailable</h1>');
    expect((await answerOf('/slow', { accept: '*/*' }))[1]).toBe('application/json');
    finish();
    await slow;
  });
});

describe('the request id', () => {
  it.each(['mine', 'my-id.1_2', 'must_have', 'mlt'])("is the caller's own: %s", async (own) => {
    const { url } = await start();
    const answer = await fetch(`${url}/answers`, { headers: { 'x-request-id': own } });
    expect(answer.headers.get('x-request-id')).toBe(own);
  });

  it.each(['must_live_4fzX', 'must_test_4fzX', 'mlt_4fzX'])(
    'is not what begins as the token %s does, since it is logged and answered',
    async (token) => {
      const { url } = await start();
      const answer = await fetch(`${url}/answers`, { headers: { 'x-request-id': token } });
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    },
  );
});

describe('requests that Node would answer by itself', () => {
  /** Sends the lines unchanged and returns everything that is received. */
  async function answerTo(url: string, ...lines: string[]): Promise<string> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.end(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`);
    let answer = '';
    for await (const chunk of socket.setEncoding('utf8')) answer += String(chunk);
    return answer;
  }

  it('are refused as JSON where they have no Host', async () => {
    const { url } = await start();
    const answer = await answerTo(url, 'GET /answers HTTP/1.1', 'X-Request-Id: mine');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/^x-request-id: mine\r$/im);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
      code: 'bad_request',
      requestId: 'mine',
      details: { reason: 'malformed_request' },
    });
  });

  it('are answered without Host in HTTP/1.0, which has none', async () => {
    const { url } = await start();
    expect(await answerTo(url, 'GET /answers HTTP/1.0')).toMatch(/^HTTP\/1\.1 200 [^]*{"done":true}$/);
  });

  it('are answered whatever they expect beyond 100-continue', async () => {
    const { url } = await start();
    const answer = await answerTo(url, 'GET /answers HTTP/1.1', 'Host: trial', 'Expect: more');
    expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*{"done":true}$/);
  });
});

describe('stopping', () => {
  it('finishes what runs, and is not ready meanwhile', async () => {
    const { service, url, finishRequests: finish, waitForRequestCount: reached } = await start();
    const slow = fetch(`${url}/slow`);
    await reached(1);
    service.drain();
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, ready.headers.get('connection')]).toEqual([503, 'close']);
    const stopped = service.stop();
    finish();
    expect((await slow).status).toBe(200);
    await stopped;
    await expect(fetch(`${url}/livez`)).rejects.toThrow();
  });

  it('waits for no connection on which nothing was sent', async () => {
    const { service, url } = await start();
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const closed = once(socket, 'close');
    await service.stop();
    await closed;
  });
});
