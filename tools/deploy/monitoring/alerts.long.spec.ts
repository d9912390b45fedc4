/**
 * Tests the alerts with Prometheus' own unit tests. alerts.test.yaml states when each alert fires, when it
 * does not fire yet, and that none fires while everything is well.
 */
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { operations } from '@muster/registry';
import { parse } from 'yaml';
import { panels } from './dashboard.ts';
import { configurationFolder, hasPrometheus, promtool } from './prometheus.ts';
import { type Selector, selectorsIn } from './promql.ts';

const file = (name: string): string => path.join(import.meta.dirname, name);
const { groups } = parse(await readFile(file('alerts.yaml'), 'utf8')) as {
  groups: { rules: { alert: string; expr: string }[] }[];
};
const rules = groups.flatMap((group) => group.rules);

it('has a test for every alert in which it fires', async () => {
  const { tests } = parse(await readFile(file('alerts.test.yaml'), 'utf8')) as {
    tests: { alert_rule_test?: { alertname: string; exp_alerts: unknown[] }[] }[];
  };
  const fired = tests
    .flatMap(({ alert_rule_test: checks = [] }) => checks)
    .filter(({ exp_alerts: alerts }) => alerts.length > 0)
    .map(({ alertname }) => alertname);
  expect(new Set(fired)).toEqual(new Set(rules.map(({ alert }) => alert)));
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
    ...panels
      .flatMap(({ queries }) => queries)
      .filter(
        (query) => query.includes('muster_operation_duration_seconds') && query.includes('coordination-api'),
      ),
  ];
  expect(asked.length).toBeGreaterThan(3);
  for (const selector of asked.flatMap(selectorsIn))
    expect(mayWait.filter((operation) => isCounted(selector, operation))).toEqual([]);
  // The names of the waiting operations as MCP tools, and the tools that wait under other names.
  const [slow] = selectorsIn(asked[0] ?? '');
  const toolNames = mayWait.map((name) => name.replaceAll('.', '_'));
  const callTools = ['call_read_operation', 'call_write_operation'];
  const byTools = [...toolNames, 'inbox', 'wait_for', 'next_work', ...callTools];
  expect(byTools.filter((tool) => slow === undefined || isCounted(slow, tool))).toEqual([]);
});

(hasPrometheus ? describe : describe.skip)('by Prometheus', () => {
  it('the shipped configuration is valid and loads every rule', async () => {
    const folder = await configurationFolder();
    const said = await promtool('check', 'config', path.join(folder, 'prometheus.yml'));
    expect(said).toContain(`${rules.length} rules found`);
    await rm(folder, { recursive: true });
  });

  it('each alert fires when its test says so, and not before', async () => {
    expect(await promtool('test', 'rules', file('alerts.test.yaml'))).toContain('SUCCESS');
  });
});
