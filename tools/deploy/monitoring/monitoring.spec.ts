/**
 * Compares the dashboard and the alerts with the metrics that the services export, with their file formats,
 * and with the guide.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createPool, newId } from '@muster/driver';
import { createMetrics } from '@muster/http';
import { errorStatus, reasons } from '@muster/contract';
import { operations } from '@muster/registry';
import { waitUntil } from '@muster/testing';
import { type IPrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { parse } from 'yaml';
import { repositoryRoot } from '@muster/tools';
import { appNames } from '../apps.ts';
import { typeFaults, validate } from '../manifests.ts';
import { dashboard, panels } from './dashboard.ts';
import { type Series, seriesOf } from './exposition.ts';
import { type MonitoringServers, openGround } from './ground.ts';
import { type Monitored, startInstallation, watchedApps } from './installation.ts';
import { hasPrometheus, startPrometheus } from './prometheus.ts';
import { type Matcher, type Selector, selectorsIn } from './promql.ts';

/** Starting several processes may take long on a busy machine. The timeout only ends tests that hang. */
jest.setTimeout(240_000);

const read = (file: string): Promise<string> => readFile(path.join(repositoryRoot, file), 'utf8');

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const rules = parse(await read('tools/deploy/monitoring/alerts.yaml')) as NonNullable<
  IPrometheusRule['spec']
>;
const alerts = (rules.groups ?? []).flatMap((group) => group.rules ?? []) as unknown as readonly Alert[];
const ofPanels = panels.flatMap(({ title, queries: asked }) =>
  asked.map((query): [string, string] => [title, query]),
);
const queries = [...alerts.map(({ alert, expr }): [string, string] => [alert, expr]), ...ofPanels];

/** Label values that appear only while something is wrong. Queries ask for them on purpose. */
const whenWrong: Readonly<Record<string, readonly string[]>> = {
  code: Object.keys(errorStatus),
  outcome: ['failed', 'unknown_license_key', 'invalid_license_key', 'too_many_attempts', 'ok'],
  reason: [...Object.keys(reasons), 'overload'],
};

/** Returns true if the query has no series while nothing fails and nothing waits. */
const isFailureQuery = (query: string): boolean =>
  selectorsIn(query).every(
    ({ metric, matchers }) =>
      metric.startsWith('muster_outbox_') || matchers.some(({ label }) => label in whenWrong),
  );

/** Returns the values of a matcher that no series can have. */
function strayValues({ label, operator, value }: Matcher, seen: readonly string[]): string[] {
  const isPattern = operator.endsWith('~');
  if (label === 'operation') {
    const names = [...operations.keys()].flatMap((name) => [name, name.replaceAll('.', '_')]);
    const pattern = isPattern ? new RegExp(`^(?:${value.replaceAll('\\\\', '\\')})$`) : undefined;
    return names.some((name) => pattern?.test(name) ?? name === value) ? [] : [value];
  }
  const values = isPattern ? value.split('|') : [value];
  return values.filter((one) => !seen.includes(one) && !(whenWrong[label] ?? []).includes(one));
}

/** Returns the metrics and labels of a selector that no service exports. */
function strayIn({ metric, matchers, groupedBy }: Selector, exported: readonly Series[]): string[] {
  const series = exported.filter((one) => one.metric === metric);
  if (series.length === 0) return [metric];
  // Every app exports `process_start_time_seconds`, including the apps that this test did not start.
  const ofEveryApp = metric === 'process_start_time_seconds' ? appNames : [];
  const has = (label: string): boolean => series.some(({ labels }) => label in labels);
  const labels = [...matchers.map(({ label }) => label), ...groupedBy];
  return [
    ...labels.filter((label) => !has(label)).map((label) => `${metric}{${label}}`),
    ...matchers.flatMap((matcher) =>
      strayValues(matcher, [
        ...series.map((one) => one.labels[matcher.label] ?? ''),
        ...(matcher.label === 'service' ? ofEveryApp : []),
      ]).map((value) => `${metric}{${matcher.label}="${value}"}`),
    ),
  ];
}

describe('every query', () => {
  it.each(queries)('of %s is PromQL', (_of, query) => {
    expect(selectorsIn(query).length).toBeGreaterThan(0);
  });

  it('would be seen not to be', () => {
    expect(() => selectorsIn('sum by (x) (rate(up[5m])')).toThrow('no PromQL');
    expect(() => selectorsIn('rate(up[5 minutes])')).toThrow('no PromQL');
  });
});

describe('what the services export', () => {
  let ground: MonitoringServers;
  let installation: Monitored;
  let exported: readonly Series[];

  const post = async (url: string, body: object): Promise<number> => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${ground.person.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await answer.text();
    return answer.status;
  };
  const scrape = async (): Promise<Series[]> => {
    const texts = await Promise.all(
      watchedApps.map(async (app) => (await fetch(`${installation.apps[app].metricsUrl}/metrics`)).text()),
    );
    return texts.flatMap(seriesOf);
  };

  beforeAll(async () => {
    ground = await openGround();
    installation = await startInstallation({
      ...{ databaseUrl: ground.databaseUrl, redisUrl: ground.redisUrl },
      environment: { LIMIT_TOKEN: '20/60' },
    });
    const {
      'coordination-api': api,
      'mcp-gateway': gateway,
      'license-service': licenses,
    } = installation.apps;
    const tool = (name: string, args: object): Promise<number> =>
      post(`${gateway.url}/api/mcp`, {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name, arguments: args },
      });
    // One call of every kind: successful, refused, followed by a job, followed by a dead job, and rejected by
    // a limit.
    await post(`${api.url}/api/members/invite`, { email: 'eve@example.com', role: 'member' });
    await post(`${api.url}/api/stories/get`, { storyId: 'NONE-1' });
    await tool('session_identity', {});
    await tool('stories_get', { storyId: 'NONE-1' });
    await fetch(`${licenses.url}/api/activate/check?licenseKey=none&machineId=none`);
    await ground.owner.query(
      `insert into outbox (org_id, id, topic, payload, dead_at) values ($1, $2, 'notification.mail', '{}', now())`,
      [ground.orgId, newId()],
    );
    await waitUntil(async () => (await post(`${api.url}/api/session/identity`, {})) === 429);
    await waitUntil(async () => {
      exported = await scrape();
      return exported.some(({ metric }) => metric === 'muster_jobs_total');
    });
  });
  afterAll(async () => {
    await installation.stop();
    await ground.stop();
  });

  it.each(queries)('is all that %s asks for', (_of, query) => {
    expect(selectorsIn(query).flatMap((selector) => strayIn(selector, exported))).toEqual([]);
  });

  it.each([
    ['muster_opeartions_total', 'muster_opeartions_total'],
    ['sum by (tool) (muster_operations_total)', 'muster_operations_total{tool}'],
    ['muster_operations_total{sevrice="x"}', 'muster_operations_total{sevrice}'],
    ['muster_leases{state="lost"}', 'muster_leases{state="lost"}'],
    ['muster_errors_total{reason=~"lease_held|lease_hold"}', 'muster_errors_total{reason="lease_hold"}'],
    [
      'muster_operations_total{operation=~"executions\\\\..*"}',
      'muster_operations_total{operation="executions\\\\..*"}',
    ],
  ])('would be missed by %s', (query, stray) => {
    expect(selectorsIn(query).flatMap((selector) => strayIn(selector, exported))).toContain(stray);
  });

  it('is all on the dashboard or behind an alert, but for what every process of Node exports', () => {
    const asked = new Set(queries.flatMap(([, query]) => selectorsIn(query)).map(({ metric }) => metric));
    const own = new Set(
      exported.map(({ metric }) => metric).filter((metric) => metric.startsWith('muster_')),
    );
    const unused = [...own].filter(
      (metric) => !asked.has(metric) && !asked.has(metric.replace(/_(sum|count)$/, '_bucket')),
    );
    expect(unused).toEqual([]);
  });

  (hasPrometheus ? it : it.skip)(
    'answers every query of Prometheus itself, which reads it by the shipped configuration',
    async () => {
      const targets = watchedApps.map((app) => new URL(installation.apps[app].metricsUrl).host);
      const prometheus = await startPrometheus(targets, { DOCS_URL: 'https://docs.example.com' });
      try {
        const up = Object.fromEntries(targets.map((target) => [`http://${target}/metrics`, 'up']));
        await waitUntil(async () => isDeepStrictEqual(await prometheus.targets(), up));
        const state = async () => (await prometheus.rules()).map(({ name, health }) => `${name} ${health}`);
        await waitUntil(async () => !(await state()).some((one) => one.endsWith(' unknown')));
        expect(await state()).toEqual(alerts.map(({ alert }) => `${alert} ok`));
        expect(await prometheus.configuration()).toContain('docs_url: https://docs.example.com');
        const answered = async ([, query]: [string, string]) => (await prometheus.query(query)).length > 0;
        for (const panel of ofPanels.filter(([, query]) => !isFailureQuery(query)))
          await waitUntil(() => answered(panel)).catch(() => expect(panel).toBe('answered'));
      } finally {
        await prometheus.stop();
      }
    },
  );

  it('counts as waiting who has to wait for a connection, and not who takes one that is idle', async () => {
    const pool = createPool({ url: ground.databaseUrl, role: null, max: 1 });
    const metrics = createMetrics('trial');
    metrics.addPoolGauges(pool);
    const waiting = async (): Promise<string | undefined> =>
      /^muster_pool_waiting\{.*\} (\d+)$/m.exec(await metrics.registry.metrics())?.[1];
    await pool.query('select 1');
    // Waits for a connection in the same turn of the event loop, as the health check does.
    const looking = pool.query('select 1');
    expect(await waiting()).toBe('0');
    await looking;
    const held = await pool.connect();
    const late = pool.query('select 1');
    expect(await waiting()).toBe('1');
    held.release();
    await late;
    await pool.end();
  });

  it('counts what refused a call, by reason, and whose connection is whose', () => {
    const labelsOf = (metric: string): Series['labels'][] =>
      exported.filter((one) => one.metric === metric).map(({ labels }) => labels);
    expect(labelsOf('muster_errors_total')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ service: 'coordination-api', operation: 'stories.get', code: 'not_found' }),
        expect.objectContaining({ service: 'mcp-gateway', operation: 'stories_get', code: 'not_found' }),
        expect.objectContaining({ service: 'coordination-api', operation: 'none', code: 'rate_limited' }),
      ]),
    );
    for (const service of ['coordination-api', 'delivery-worker', 'license-service']) {
      expect(labelsOf('muster_pool_connections')).toContainEqual({ service, state: 'busy' });
      expect(labelsOf('muster_dependency_up')).toContainEqual({ service, dependency: 'postgres' });
    }
  });
});

describe('the alerts', () => {
  const asManifest = {
    ...{ apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata: { name: 'muster' } },
    spec: rules,
  };

  it('are rules as Prometheus takes them', async () => {
    await validate(asManifest);
    expect(await typeFaults([asManifest])).toEqual([]);
    const odd = { ...asManifest, spec: { groups: [{ name: 'odd', rules: [{ alert: 'Odd', exp: 'up' }] }] } };
    expect(await typeFaults([odd])).not.toEqual([]);
  });

  it.each(alerts)(
    '$alert has a name of its own, a severity, a summary and a section in the guide',
    async (one) => {
      expect(alerts.filter(({ alert }) => alert === one.alert)).toHaveLength(1);
      expect(one.alert).toMatch(/^Muster[A-Z][A-Za-z]+$/);
      expect(['critical', 'warning']).toContain(one.labels['severity']);
      expect(one.annotations['summary']).toMatch(/^['A-Z{]/);
      expect(one.annotations['runbook_url']).toBe(
        `{{ $externalLabels.docs_url }}/guides/monitoring#${one.alert.toLowerCase()}`,
      );
      const sections = (await read('docs/guides/monitoring.md')).split(/^### /m).slice(1);
      const section = sections.find((text) => text.startsWith(`${one.alert}\n`));
      // The section explains the alert and says what to do.
      expect(section?.length).toBeGreaterThan(200);
    },
  );

  it('are all that the guide has sections of', async () => {
    const headings = [...(await read('docs/guides/monitoring.md')).matchAll(/^### (\w+)$/gm)].map(
      ([, name]) => name,
    );
    expect(headings).toEqual(alerts.map(({ alert }) => alert));
  });
});

describe('the dashboard', () => {
  it('says of each panel what it tells, and gives each an id and a place of its own', () => {
    const ids = dashboard.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const places = dashboard.map(({ gridPos: { x, y } }) => `${x} ${y}`);
    expect(new Set(places).size).toBe(places.length);
    const shown = dashboard.filter(({ type }) => type !== 'row');
    expect(shown.filter(({ description = '' }) => description === '')).toEqual([]);
    // The reader chooses the data source. An exported dashboard may name its author's data source.
    for (const { datasource } of shown)
      expect(datasource).toEqual({ type: 'prometheus', uid: '${datasource}' });
  });
});
