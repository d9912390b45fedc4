import { readdir, readFile } from 'node:fs/promises';

/** The values that a server reports in Prometheus' format. */
export interface ServerUse {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

/** The address of the metrics by the server's URL, for servers that serve metrics at a separate address. */
export const metricsUrls = new Map<string, string>();

/** The process IDs of servers without metrics, by the server's URL. Their use is read from Linux' /proc. */
export const processIds = new Map<string, number>();

export async function readServerUse(url: string): Promise<ServerUse> {
  const processId = processIds.get(url);
  if (processId !== undefined) return readProcessUse(processId);
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
const pageBytes = 4_096;

/** Returns the fields of a process from its state on, or none if it has exited. */
async function readProcessStat(processId: number | string): Promise<string[]> {
  const stat = await readFile(`/proc/${processId}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

async function readProcessUse(processId: number): Promise<ServerUse> {
  const fields = await readProcessStat(processId);
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
    residentBytes: Number(fields[21]) * pageBytes,
  };
}

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
    const fields = await readProcessStat(name);
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
