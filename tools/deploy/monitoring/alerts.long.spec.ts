/** Each alert by Prometheus' own arithmetic: it fires when it should, no minute before, and never while all is well. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operations } from '@muster/registry';
import { parse, stringify } from 'yaml';
import { type AlertCase, alertCases, well } from './alert-cases.ts';
import { dashboard, panelsOf } from './dashboard.ts';
import { configurationFolder, hasPrometheus, promtool } from './prometheus.ts';
import { type Selector, selectorsIn } from './promql.ts';

const docsUrl = 'https://docs.example.com';

let folder: string;
let rules: { alert: string; expr: string }[];
let names: string[];
beforeAll(async () => {
  folder = await configurationFolder();
  const { groups } = parse(await readFile(path.join(folder, 'alerts.yaml'), 'utf8')) as {
    groups: { rules: typeof rules }[];
  };
  rules = groups.flatMap((group) => group.rules);
  names = rules.map(({ alert }) => alert);
});
afterAll(() => rm(folder, { recursive: true }));

/** Of these series, what fires at which minute; the alerts of a minute are all that is expected of that name. */
const check = async (
  file: string,
  series: Readonly<Record<string, string>>,
  expected: readonly { readonly at: number; readonly alert: string; readonly fires?: AlertCase }[],
): Promise<string> => {
  const test = {
    rule_files: ['alerts.yaml'],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        external_labels: { docs_url: docsUrl },
        input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
        alert_rule_test: expected.map(({ at, alert, fires }) => ({
          eval_time: `${at}m`,
          alertname: alert,
          exp_alerts:
            fires === undefined
              ? []
              : [
                  {
                    exp_labels: fires.labels,
                    exp_annotations: {
                      summary: fires.summary,
                      runbook_url: `${docsUrl}/guides/monitoring#${alert.toLowerCase()}`,
                    },
                  },
                ],
        })),
      },
    ],
  };
  const where = path.join(folder, file);
  await writeFile(where, stringify(test));
  return promtool('test', 'rules', where);
};

const changed = ({ series }: AlertCase): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ ...well, ...series }).filter((entry): entry is [string, string] => entry[1] !== null),
  );

it('is told of every alert when it fires', () => {
  expect(new Set(alertCases.map(({ alert }) => alert))).toEqual(new Set(names));
});

it('takes no call for slow that waits because it was asked to', () => {
  const mayWait = [...operations.values()]
    .filter(({ params }) => 'waitSeconds' in params.shape)
    .map(({ name }) => name);
  expect(mayWait).toContain('events.list');
  const isCounted = ({ matchers }: Selector, operation: string): boolean =>
    !matchers.some(
      ({ label, operator, value }) =>
        label === 'operation' && operator.startsWith('!') && new RegExp(`^(?:${value})$`).test(operation),
    );
  const asked = [
    rules.find(({ alert }) => alert === 'MusterSlow')?.expr ?? '',
    ...panelsOf(dashboard())
      .flatMap(({ queries }) => queries)
      .filter(
        (query) => query.includes('muster_operation_duration_seconds') && query.includes('coordination-api'),
      )
      .map((query) => query.replaceAll('$__rate_interval', '5m')),
  ];
  expect(asked.length).toBeGreaterThan(3);
  for (const selector of asked.flatMap(selectorsIn))
    expect(mayWait.filter((operation) => isCounted(selector, operation))).toEqual([]);
  // As tools, and by other names.
  const [slow] = selectorsIn(asked[0] ?? '');
  const byTools = [...mayWait.map((name) => name.replaceAll('.', '_')), 'wait_for', 'call_read_operation'];
  expect(byTools.filter((tool) => slow === undefined || isCounted(slow, tool))).toEqual([]);
});

(hasPrometheus ? describe : describe.skip)('by Prometheus', () => {
  it('the shipped configuration is one, and its rules are', async () => {
    const said = await promtool('check', 'config', path.join(folder, 'prometheus.yml'));
    expect(said).toContain(`${names.length} rules found`);
  });

  it('no alert fires while all is well', async () => {
    const minutes = [5, 15, 30, 60, 110];
    const quiet = names.flatMap((alert) => minutes.map((at) => ({ at, alert })));
    expect(await check('well.yaml', well, quiet)).toContain('SUCCESS');
  });

  it.each(alertCases)('$alert fires: $summary', async (fires) => {
    const { alert, firesAt, quietAt } = fires;
    const expected = [{ at: quietAt, alert }, ...[firesAt, firesAt + 1].map((at) => ({ at, alert, fires }))];
    expect(await check(`${alert}.yaml`, changed(fires), expected)).toContain('SUCCESS');
  });
});
