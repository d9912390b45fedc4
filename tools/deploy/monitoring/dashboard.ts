/**
 * The panels of the Grafana dashboard, with the queries that each sends to Prometheus. dashboard.json is an
 * export of Grafana.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';

interface GrafanaPanel {
  readonly type: string;
  readonly id: number;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number };
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly targets?: readonly { readonly expr: string }[];
}

const text = await readFile(path.join(import.meta.dirname, 'dashboard.json'), 'utf8');

/** The rows and panels of the dashboard, from top to bottom. */
export const dashboard = (JSON.parse(text) as { panels: readonly GrafanaPanel[] }).panels;

export const panels = dashboard.flatMap(({ title, targets }) =>
  targets === undefined
    ? []
    : // Grafana chooses the interval for rates.
      [{ title, queries: targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')) }],
);
