import { readdir, readFile } from 'node:fs/promises';

/** The values that a server reports in Prometheus' format. */
export interface ServerUse {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

/** The address of the metrics by the server's URL, for servers that serve metrics at a separate address. */
export const metricsUrls = new Map<string, string>();

export async function readServerUse(url: string): Promise<ServerUse> {
  const text = await (await fetch(`${metricsUrls.get(url) ?? url}/metrics`)).text();
  const value = (name: string): number => {
    const [, number] = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text) ?? [];
    if (number === undefined) throw new Error(`${url}/metrics has no ${name}`);
    return Number(number);
  };
  return {
    cpuSeconds: value('process_cpu_seconds_total'),
    residentBytes: value('process_resident_memory_bytes'),
  };
}

/** Clock ticks per second: the unit in which /proc reports the time of processes that have exited. */
const ticksPerSecond = 100;

/**
 * Returns the processor time in seconds that all processes of PostgreSQL have used so far, including those
 * that have exited. Returns null if the time cannot be read.
 */
export async function readPostgresSeconds(postmaster: number): Promise<number | null> {
  if (process.platform !== 'linux') return null;
  let nanoseconds = 0;
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // A process may exit while its entry in /proc is read.
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isPostmaster = Number(name) === postmaster;
    if (Number(fields[1]) !== postmaster && !isPostmaster) continue;
    if (isPostmaster) nanoseconds += ((Number(fields[13]) + Number(fields[14])) / ticksPerSecond) * 1e9;
    const [onProcessor = '0'] = (await readFile(`/proc/${name}/schedstat`, 'utf8').catch(() => '')).split(
      ' ',
    );
    nanoseconds += Number(onProcessor);
  }
  return nanoseconds / 1e9;
}
