/** Each alert by Prometheus' own arithmetic: it fires when it should, no minute before, and never while all is well. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { type AlertCase, alertCases, well } from './alert-cases.ts';
import { configurationFolder, hasPrometheus, promtool } from './prometheus.ts';

const docsUrl = 'https://docs.example.com';

let folder: string;
let names: string[];
beforeAll(async () => {
  folder = await configurationFolder();
  const { groups } = parse(await readFile(path.join(folder, 'alerts.yaml'), 'utf8')) as {
    groups: { rules: { alert: string }[] }[];
  };
  names = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
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
