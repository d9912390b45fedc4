/** Tests the counting and the logging of error responses. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ApiError, internalError, apiErrorFromBody, serviceUnavailable } from '@muster/contract';
import { pino } from 'pino';
import { elapsedMillis } from './elapsed.ts';
import { createService, type Service } from './service.ts';

const runningServices: Service[] = [];
afterEach(async () => {
  await Promise.all(runningServices.splice(0).map((service) => service.stop()));
});

/** Starts a service with a route that fails with a requested reason, and one that knows its operation. */
function start() {
  const lines: Record<string, unknown>[] = [];
  const service = createService({
    name: 'trial',
    logger: pino(
      {},
      { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
    ),
    checks: [],
    maxInFlight: 10,
    trustProxy: false,
    toApiError: (error) => (error instanceof ApiError ? error : internalError()),
  });
  service.app.get<{ Params: { reason: string } }>('/refused/:reason', async ({ params }) => {
    throw apiErrorFromBody({
      ...{ code: 'conflict', message: 'No.', status: 409, requestId: 'r1' },
      details: { reason: params.reason },
    });
  });
  service.app.get('/known', async (request) => {
    request.operation = 'things.do';
    throw serviceUnavailable('busy');
  });
  service.app.get('/slow', async (request) => {
    await delay(30);
    return { elapsed: elapsedMillis(request) };
  });
  service.app.get('/slow/refused', async () => {
    await delay(30);
    throw serviceUnavailable('busy');
  });
  runningServices.push(service);
  const get = (url: string, id = 'r1') => service.app.inject({ url, headers: { 'x-request-id': id } });
  const counted = async (): Promise<string[]> =>
    (await service.metrics.registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('muster_errors_total{'));
  return { get, counted, lines };
}

describe('an answer with an error', () => {
  it('is counted by operation, code and reason, and said by its route where no operation was known', async () => {
    const { get, counted, lines } = start();
    await get('/refused/lease_held?secret=1', 'r2');
    await get('/no/such/path');
    expect(await counted()).toEqual([
      'muster_errors_total{operation="none",code="conflict",reason="lease_held",service="trial"} 1',
      'muster_errors_total{operation="none",code="not_found",reason="no_such_path",service="trial"} 1',
    ]);
    expect(lines[0]).toMatchObject({
      ...{ msg: 'refused', requestId: 'r2', method: 'GET', route: '/refused/:reason' },
      ...{ outcome: 'conflict', reason: 'lease_held', durationMs: expect.any(Number) },
    });
  });

  it('is said with the milliseconds that it took, as an answer without one is measured', async () => {
    const { get, lines } = start();
    await get('/slow/refused');
    // Timers may fire up to a millisecond early.
    expect(lines[0]?.['durationMs']).toBeGreaterThanOrEqual(29);
    expect((await get('/slow')).json<{ elapsed: number }>().elapsed).toBeGreaterThanOrEqual(29);
  });

  it('is left to whoever knows the operation to be said', async () => {
    const { get, counted, lines } = start();
    await get('/known');
    expect(await counted()).toEqual([
      'muster_errors_total{operation="things.do",code="unavailable",reason="busy",service="trial"} 1',
    ]);
    expect(lines).toEqual([]);
  });

  it('is none where health says no', async () => {
    const { get, counted } = start();
    await get('/readyz');
    runningServices[0]?.drain();
    expect((await get('/readyz')).statusCode).toBe(503);
    expect(await counted()).toEqual([]);
  });

  it('makes no more series than there are reasons, whatever becomes one', async () => {
    const { get, counted } = start();
    for (let index = 0; index < 300; index += 1) await get(`/refused/reason_${index}`);
    const series = await counted();
    expect(series).toHaveLength(201);
    expect(series).toContain(
      'muster_errors_total{operation="none",code="conflict",reason="other",service="trial"} 100',
    );
  });
});
