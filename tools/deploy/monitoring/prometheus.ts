/** Starts Prometheus, if this machine has it, with the configuration that Compose uses. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { waitUntil } from '@muster/testing';
import { findFreePort } from '@muster/testing/ports';
import { parse, stringify } from 'yaml';
import { findProgram, repositoryRoot } from '@muster/tools';

const run = promisify(execFile);
const monitoring = path.join(repositoryRoot, 'tools/deploy/monitoring');

const [server, tool] = [findProgram(['prometheus']), findProgram(['promtool'])];

export const hasPrometheus = server !== undefined && tool !== undefined;

/** Returns promtool's output. Throws if promtool reports an error. */
export async function promtool(...args: string[]): Promise<string> {
  const { stdout } = await run(tool ?? 'promtool', args);
  return stdout;
}

/** Creates a folder with the configuration and the alert rules of Prometheus, as the container has them. */
export async function configurationFolder(
  change: (configuration: Record<string, unknown>) => object = (same) => same,
): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-prometheus-'));
  await copyFile(path.join(monitoring, 'alerts.yaml'), path.join(folder, 'alerts.yaml'));
  const shipped = await readFile(path.join(monitoring, 'compose/prometheus.yml'), 'utf8');
  const configuration = change(parse(shipped) as Record<string, unknown>);
  await writeFile(path.join(folder, 'prometheus.yml'), stringify(configuration));
  return folder;
}

export interface Rule {
  readonly name: string;
  readonly health: string;
}

export interface Prometheus {
  /** Returns the state of each scrape target by its address. */
  targets(): Promise<Record<string, string>>;
  rules(): Promise<readonly Rule[]>;
  /** Returns the values of the series that match a query. */
  query(promql: string): Promise<number[]>;
  /** Returns the configuration with its external labels as Prometheus read it. */
  configuration(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts Prometheus with the shipped configuration, but with other targets and short intervals. */
export async function startPrometheus(
  targets: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Prometheus> {
  const folder = await configurationFolder((shipped) => ({
    ...shipped,
    global: { ...(shipped['global'] as object), scrape_interval: '500ms', evaluation_interval: '500ms' },
    scrape_configs: [{ job_name: 'muster', static_configs: [{ targets }] }],
  }));
  const { stdout, stderr } = await run(server ?? 'prometheus', ['--version']);
  const isOld = /version 2\./.test(stdout + stderr);
  const port = await findFreePort();
  const child = spawn(
    server ?? 'prometheus',
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      // Prometheus 3 expands external labels without this option.
      ...(isOld ? ['--enable-feature=expand-external-labels'] : []),
    ],
    { env: { ...process.env, ...environment }, stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill();
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const base = `http://127.0.0.1:${port}`;
  const ask = async (what: string): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${base}/api/v1/${what}`);
    const { data, error } = (await answer.json()) as { data?: Record<string, unknown>; error?: string };
    if (data === undefined) throw new Error(`Prometheus refused ${what}: ${error ?? answer.status}`);
    return data;
  };
  try {
    await waitUntil(async () => {
      if (child.exitCode !== null) throw new Error(`Prometheus ended with ${child.exitCode}`);
      return (await fetch(`${base}/-/ready`).catch(() => undefined))?.ok === true;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    targets: async () => {
      const { activeTargets = [] } = (await ask('targets')) as {
        activeTargets?: { scrapeUrl: string; health: string }[];
      };
      return Object.fromEntries(activeTargets.map(({ scrapeUrl, health }) => [scrapeUrl, health]));
    },
    rules: async () =>
      ((await ask('rules')) as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) => rules),
    query: async (promql) =>
      (
        (await ask(`query?query=${encodeURIComponent(promql)}`)) as { result: { value: [number, string] }[] }
      ).result.map(({ value: [, value] }) => Number(value)),
    configuration: async () => String((await ask('status/config'))['yaml']),
    stop,
  };
}
