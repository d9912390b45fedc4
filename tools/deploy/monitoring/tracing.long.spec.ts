/**
 * Tests that a collector receives traces that span all services, and that without a collector nothing of
 * OpenTelemetry is loaded.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { newId } from '@muster/driver';
import { jobNames } from '@muster/jobs';
import { waitUntil } from '@muster/testing';
import { sourcesOf, startThrowAwayApp } from '@muster/tools';
import { type Environment } from '../apps.ts';
import { type CollectedSpan, type Collector, spanKind, startCollector } from './collector.ts';
import { type MonitoringServers, openGround } from './ground.ts';
import { type Monitored, type MonitoredOptions, startInstallation } from './installation.ts';

/** Starting several processes may take long on a busy machine. The timeout only ends tests that hang. */
jest.setTimeout(240_000);

let ground: MonitoringServers;
beforeAll(async () => {
  ground = await openGround();
});
afterAll(() => ground.stop());

const start = (more: Partial<MonitoredOptions> = {}): Promise<Monitored> =>
  startInstallation({ databaseUrl: ground.databaseUrl, redisUrl: ground.redisUrl, ...more });

const rows = async <Row extends object>(sql: string, ...parameters: unknown[]): Promise<Row[]> =>
  (await ground.owner.query<Row>(sql, parameters)).rows;

/** Calls a tool of the gateway at its public address on the API. */
async function callTool(
  { apps }: Monitored,
  name: string,
  args: object,
  headers: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const answer = await fetch(`${apps['coordination-api'].url}/api/mcp`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${ground.person.token}`, 'content-type': 'application/json' },
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: newId(),
      method: 'tools/call',
      params: { name, arguments: args },
    }),
  });
  const { result } = (await answer.json()) as { result: { structuredContent: Record<string, unknown> } };
  return result.structuredContent;
}

const undone = async (): Promise<number> =>
  (await rows('select 1 from outbox where org_id = $1 and done_at is null', ground.orgId)).length;

describe('with a collector', () => {
  let collector: Collector;
  let installation: Monitored;
  const toCollector = (): Environment => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=secret-of-the-collector',
  });

  beforeAll(async () => {
    collector = await startCollector();
    installation = await start({
      environment: {
        ...toCollector(),
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=spec',
        OTEL_BSP_SCHEDULE_DELAY: '100',
      },
    });
  });
  afterAll(async () => {
    await installation.stop();
    await collector.close();
  });

  const ofTrace = (traceId: string): CollectedSpan[] =>
    collector.spans.filter((span) => span.traceId === traceId);
  /** Returns the services and names of a span and its ancestors, up to the start of the trace. */
  const lineOf = (span: CollectedSpan | undefined, of: readonly CollectedSpan[]): string[] => {
    const line: string[] = [];
    const byId = new Map(of.map((one) => [one.spanId, one]));
    for (let at = span; at !== undefined; at = byId.get(at.parentSpanId))
      line.push(`${at.service}: ${at.name}`);
    return line;
  };

  it('shows one write through the gateway, the API, Postgres, the outbox and the worker as one trace', async () => {
    const [traceId, callersSpan] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    await callTool(
      installation,
      'members_invite',
      { email: 'eve@example.com', role: 'member' },
      { traceparent: `00-${traceId}-${callersSpan}-01` },
    );
    const job = (): CollectedSpan | undefined =>
      ofTrace(traceId).find(({ name }) => name === 'invitation.mail');
    await waitUntil(
      () => job() !== undefined && ofTrace(traceId).some(({ parentSpanId }) => parentSpanId === callersSpan),
    );
    await waitUntil(
      () =>
        lineOf(job(), ofTrace(traceId)).length === 7 &&
        ofTrace(traceId).some(({ name }) => name.endsWith('commit')),
    );

    const spans = ofTrace(traceId);
    expect(lineOf(job(), spans)).toEqual([
      'delivery-worker: invitation.mail',
      'coordination-api: transaction',
      'coordination-api: members.invite',
      'mcp-gateway: POST /api/members/invite',
      'mcp-gateway: tools/call members_invite',
      'coordination-api: POST /api/mcp',
      'coordination-api: POST /api/mcp',
    ]);
    const first = spans.find(({ parentSpanId }) => parentSpanId === callersSpan);
    expect(first).toMatchObject({ service: 'coordination-api', kind: spanKind.server });
    expect(job()).toMatchObject({ kind: spanKind.consumer, failed: false });
    expect(spans.find(({ name }) => name === 'send')?.parentSpanId).toBe(job()?.spanId);

    const operation = spans.find(({ name }) => name === 'members.invite');
    expect(operation).toMatchObject({
      kind: spanKind.server,
      attributes: {
        'http.route': '/api/members/invite',
        'http.response.status_code': 200,
        'muster.organization': ground.orgId,
        'muster.outcome': 'ok',
      },
    });
    const transaction = spans.find(
      ({ name, parentSpanId }) => name === 'transaction' && parentSpanId === operation?.spanId,
    );
    const bursts = spans.filter(
      ({ parentSpanId, kind }) => parentSpanId === transaction?.spanId && kind === spanKind.client,
    );
    expect(bursts.map(({ name }) => name).join(', ')).toMatch(
      /^begin, select app\.enter, .*insert into invitations, .*insert into outbox, .*commit$/,
    );
    for (const { attributes } of bursts) expect(attributes['db.system.name']).toBe('postgresql');
  });

  it('shows a job that answers many in the trace of the first, with links to the others', async () => {
    // One statement inserts three rows, so the relay claims them together. The worker waits for their row
    // locks and then finds all three.
    const parents = ['a', 'b', 'c'].map((letter) => `00-${letter.repeat(32)}-${letter.repeat(16)}-01`);
    await rows(
      `insert into outbox (org_id, id, topic, payload, trace_parent)
       select $1, uuidv7(), 'gamification.sync', '{}', parent from unnest($2::text[]) parent`,
      ground.orgId,
      parents,
    );
    await waitUntil(() => collector.spans.some(({ name }) => name === 'gamification.sync'));
    const job = collector.spans.find(({ name }) => name === 'gamification.sync');
    const asked = [job?.traceId, ...(job?.links ?? []).map((link) => link.traceId)].map((id) => id?.[0]);
    expect(asked.toSorted()).toEqual(['a', 'b', 'c']);
    expect(job?.parentSpanId).toBe(job?.traceId.slice(0, 16));
  });

  it('shows a refusal as an answer, and a fault as a failure', async () => {
    const refused = await fetch(`${installation.apps['coordination-api'].url}/api/stories/get`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ground.person.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ storyId: 'NONE-1' }),
    });
    expect(refused.status).toBe(404);
    const ofOperation = (): CollectedSpan | undefined =>
      collector.spans.find(({ name, kind }) => name === 'stories.get' && kind === spanKind.server);
    await waitUntil(() => ofOperation() !== undefined);
    expect(ofOperation()).toMatchObject({
      failed: false,
      attributes: { 'http.response.status_code': 404, 'muster.outcome': 'not_found' },
    });
    const away = await fetch(`${installation.apps['license-service'].url}/api/activate/check`);
    await waitUntil(() => collector.spans.some(({ service }) => service === 'license-service'));
    const check = collector.spans.find(
      ({ service, kind }) => service === 'license-service' && kind === spanKind.server,
    );
    expect(check).toMatchObject({
      name: 'check',
      attributes: { 'http.response.status_code': away.status },
    });
  });

  it('is made by the sources, too', async () => {
    const api = await startThrowAwayApp('coordination-api', {
      log: 'warn',
      main: sourcesOf('coordination-api'),
      environment: { DATABASE_URL: ground.databaseUrl, ...toCollector() },
    });
    const answer = await fetch(`${api.url}/api/session/identity`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ground.person.token}` },
    });
    expect(answer.status).toBe(200);
    // The service sends its remaining spans when it stops.
    await api.stop();
    const operation = collector.spans.find(
      ({ name, parentSpanId }) => name === 'session.identity' && parentSpanId === '',
    );
    expect(collector.spans).toContainEqual(
      expect.objectContaining({ name: 'transaction', parentSpanId: operation?.spanId }),
    );
  });

  it('begins no trace for health, metrics and what the worker does by itself', async () => {
    for (const app of Object.values(installation.apps)) {
      for (const url of [`${app.url}/livez`, `${app.url}/readyz`, `${app.metricsUrl}/metrics`])
        await (await fetch(url)).text();
    }
    await callTool(installation, 'session_identity', {});
    await waitUntil(() => collector.spans.some(({ name }) => name === 'tools/call session_identity'));
    const begun = collector.spans.filter(({ parentSpanId }) => parentSpanId === '').map(({ name }) => name);
    const asked = ['POST /api/mcp', 'stories.get', 'session.identity', 'check', ...jobNames];
    expect(begun.filter((name) => !asked.includes(name))).toEqual([]);
  });

  it('says where, and nothing of what anybody wrote', async () => {
    const said = collector.bodies.join('\n');
    expect(said).toContain('deployment.environment.name');
    for (const secret of ['eve@example.com', ground.person.token, 'NONE-1', 'ana@example.com'])
      expect(said).not.toContain(secret);
    for (const { 'x-key': key } of collector.headers) expect(key).toBe('secret-of-the-collector');
  });
});

describe('without one', () => {
  /**
   * Prints the modules of OpenTelemetry that the sources load, except for its API package, which prom-client
   * imports. Bundles cannot show this, because they contain all modules.
   */
  const watcher = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) {
      if (url.includes('/@opentelemetry/') && !url.includes('/@opentelemetry/api/')) console.log('LOADED ' + url);
      return next(url, context);
    } });`)}`;
  const loadedIn = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('LOADED'));

  it('loads nothing, passes on what a caller sent, and writes nothing of it', async () => {
    const lines: string[] = [];
    const installation = await start({
      ofSources: { nodeOptions: ['--import', watcher] },
      onLine: (_app, line) => lines.push(line),
    });
    try {
      await rows('delete from outbox where org_id = $1', ground.orgId);
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      await callTool(
        installation,
        'members_invite',
        { email: 'finn@example.com', role: 'member' },
        { traceparent },
      );
      const traces = await rows('select distinct trace_parent from outbox where org_id = $1', ground.orgId);
      expect(traces).toEqual([{ trace_parent: null }]);
      await waitUntil(async () => (await undone()) === 0);
    } finally {
      await installation.stop();
    }
    expect(lines.some((line) => line.includes('members_invite'))).toBe(true);
    expect(loadedIn(lines)).toEqual([]);
    expect(lines.filter((line) => line.includes('traceId'))).toEqual([]);
  });

  it('would see it loaded', async () => {
    const lines: string[] = [];
    const app = await startThrowAwayApp('license-service', {
      log: 'info',
      main: sourcesOf('license-service'),
      nodeOptions: ['--import', watcher],
      onLine: (line) => lines.push(line),
      environment: { DATABASE_URL: ground.databaseUrl, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
    });
    await app.stop();
    expect(loadedIn(lines).length).toBeGreaterThan(4);
  });
});
