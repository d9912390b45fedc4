/** Tests the spans that a collector receives over HTTP. Their relations follow the headers of W3C. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  describeSpan,
  inSpan,
  inLinkedSpan,
  isTracing,
  openSpan,
  startTracing,
  stopTracing,
  traceHeaders,
  traceParent,
  type TracingOptions,
} from './index.ts';

interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly status: { readonly code?: number };
  readonly links?: readonly { readonly traceId: string }[];
}

interface Otlp {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

let server: Server;
let sentSpans: SentSpan[];
let status: number;
let faults: unknown[];

beforeEach(async () => {
  [sentSpans, status, faults] = [[], 200, []];
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(body) as Otlp;
      sentSpans.push(...resourceSpans.flatMap((one) => one.scopeSpans.flatMap(({ spans }) => spans)));
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  await stopTracing();
  server.closeAllConnections();
  server.close();
});

const start = (more: Partial<TracingOptions> = {}): Promise<void> =>
  startTracing({
    service: 'trial',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sampler: 'parentbased_always_on',
    samplingRatio: 1,
    batchDelayMillis: 60_000,
    onFault: (error) => faults.push(error),
    ...more,
  });

const findSpan = (name: string): SentSpan | undefined => sentSpans.find((span) => span.name === name);
const traceId = '0af7651916cd43dd8448eb211c80319c';
const traceparentHeader = `00-${traceId}-b7ad6b7169203331-01`;

/** Runs work in the span of a request. */
async function runInRequest(headers: Record<string, string>, work: () => Promise<void>): Promise<void> {
  const span = openSpan({ name: 'request', kind: 'server' }, headers);
  await span?.run(work);
  span?.end({}, undefined);
}

describe('without a collector', () => {
  it('work is done, and nothing goes along', async () => {
    expect(isTracing()).toBe(false);
    expect(openSpan({ name: 'request' }, { traceparent: traceparentHeader })).toBeUndefined();
    expect(
      await inSpan(
        () => ({ name: 'work' }),
        () => Promise.resolve(1),
      ),
    ).toBe(1);
    expect(
      await inLinkedSpan(
        () => ({ name: 'job' }),
        [traceparentHeader],
        () => Promise.resolve(2),
      ),
    ).toBe(2);
    describeSpan('nothing', {});
    expect([traceHeaders(), traceParent()]).toEqual([{}, undefined]);
  });
});

describe('with one', () => {
  it('a request goes on from its caller, what is done for it from the request, and so does what it asks', async () => {
    await start();
    let passedOn = '';
    await runInRequest({ traceparent: traceparentHeader }, async () => {
      describeSpan('stories.get', { 'muster.outcome': 'ok' });
      await inSpan(
        () => ({ name: 'ask' }),
        async () => void (passedOn = traceParent() ?? ''),
      );
    });
    await stopTracing();
    expect(findSpan('stories.get')).toMatchObject({ traceId, parentSpanId: 'b7ad6b7169203331' });
    expect(findSpan('ask')).toMatchObject({ traceId, parentSpanId: findSpan('stories.get')?.spanId });
    expect(passedOn).toBe(`00-${traceId}-${findSpan('ask')?.spanId ?? ''}-01`);
  });

  it('a header that is none begins a trace like no header', async () => {
    await start();
    await runInRequest({ traceparent: '00-nonsense-01' }, () => Promise.resolve());
    await stopTracing();
    expect(findSpan('request')?.parentSpanId ?? '').toBe('');
  });

  it('work of nobody begins none', async () => {
    await start();
    await inSpan(
      () => ({ name: 'by itself' }),
      () => Promise.resolve(),
    );
    await stopTracing();
    expect(sentSpans).toEqual([]);
  });

  it('a job is a child of the first that asked, linked to the others, whatever any of them said', async () => {
    await start();
    const other = `00-${'b'.repeat(32)}-${'c'.repeat(16)}-01`;
    await inLinkedSpan(
      () => ({ name: 'job' }),
      [traceparentHeader, 'nonsense', other],
      () => Promise.resolve(),
    );
    await stopTracing();
    expect(findSpan('job')).toMatchObject({ traceId, links: [{ traceId: 'b'.repeat(32) }] });
  });

  it('a failure is one, by its name alone; a refusal is an answer', async () => {
    await start();
    const failing = (name: string, error: Error) =>
      inSpan(
        () => ({ name }),
        () => Promise.reject(error),
      ).catch(() => undefined);
    await runInRequest({}, async () => {
      await failing('failed', new TypeError('what somebody wrote'));
      await failing('refused', Object.assign(new Error('no'), { status: 409 }));
    });
    await stopTracing();
    expect([findSpan('failed')?.status.code, findSpan('refused')?.status.code ?? 0]).toEqual([2, 0]);
    expect(JSON.stringify(sentSpans)).toContain('TypeError');
    expect(JSON.stringify(sentSpans)).not.toContain('what somebody wrote');
  });

  it.each([
    ['parentbased_always_on', `00-${traceId}-b7ad6b7169203331-00`, 0],
    ['parentbased_always_off', traceparentHeader, 1],
    ['parentbased_traceidratio', '', 0],
    ['traceidratio', traceparentHeader, 0],
    ['always_off', traceparentHeader, 0],
    ['always_on', `00-${traceId}-b7ad6b7169203331-00`, 1],
  ] as const)('%s, called by "%s", keeps %d', async (sampler, traceparent, kept) => {
    await start({ sampler, samplingRatio: 0 });
    let flags = '';
    await runInRequest({ traceparent }, async () => void (flags = traceParent()?.slice(-2) ?? ''));
    await stopTracing();
    expect(sentSpans).toHaveLength(kept);
    // The next service makes the same sampling decision.
    expect(flags).toBe(`0${kept}`);
  });

  it('that refuses them, somebody is told', async () => {
    status = 400;
    await start();
    await runInRequest({}, () => Promise.resolve());
    await stopTracing();
    expect(faults).not.toEqual([]);
  });
});
