// The table at the end of `npm test`: processor time, wall time and number of tests of each Nx task.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type JestResults, type NxRun } from '../jest/tally.ts';

export interface Timing {
  readonly task: string;
  /** User and system time of the task and its child processes. Zero if the result came from Nx's cache. */
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
  readonly tests: number;
}

/**
 * Parses the output of the POSIX command `times`: user and system time of the shell, then user and system
 * time of its children.
 */
export function cpuSecondsOf(times: string): number {
  const [, children = ''] = times.trim().split('\n');
  return [...children.matchAll(/(\d+)m([\d.,]+)s/g)].reduce(
    (sum, [, minutes, seconds = '']) => sum + Number(minutes) * 60 + Number(seconds.replace(',', '.')),
    0,
  );
}

export function timingsOf(
  run: NxRun,
  timingsFolder: string,
  resultsOf: (projectName: string, target: string) => JestResults | undefined,
): Timing[] {
  return run.tasks
    .filter(({ target }) => target !== 'starts-first')
    .map(({ taskId, projectName, target, startTime, endTime }) => {
      const file = path.join(timingsFolder, `${projectName}.${target}`.replaceAll(/[/:]/g, '-'));
      const results = target === 'test' || target === 'long' ? resultsOf(projectName, target) : undefined;
      return {
        task: taskId,
        cpuSeconds: existsSync(file) ? cpuSecondsOf(readFileSync(file, 'utf8')) : 0,
        wallSeconds:
          startTime === undefined || endTime === undefined
            ? 0
            : (Date.parse(endTime) - Date.parse(startTime)) / 1_000,
        tests: (results?.numPassedTests ?? 0) + (results?.numFailedTests ?? 0),
      };
    })
    .toSorted((one, other) => other.cpuSeconds - one.cpuSeconds);
}

/**
 * Returns the processor seconds of all child processes that have ended, including the shared servers. Returns
 * undefined on systems without /proc, such as macOS, because Node has no function for it.
 */
export function cpuSecondsOfChildren(): number | undefined {
  if (!existsSync('/proc/self/stat')) return undefined;
  const ticksPerSecond = 100;
  // The name of the program is in parentheses and may contain spaces.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
}

/** Builds a table of the 15 tasks that took the most processor time, the others together, and the total. */
export function timingTable(
  timings: readonly Timing[],
  wallSeconds: number,
  allCpuSeconds: number | undefined,
): string {
  const shown = timings.slice(0, 15);
  const sum = (some: readonly Timing[], field: 'cpuSeconds' | 'tests'): number =>
    some.reduce((total, timing) => total + timing[field], 0);
  const cpu = sum(timings, 'cpuSeconds');
  const row = (name: string, cpuSeconds: number, wall: string, tests: number): string =>
    `${name.padEnd(44)}${cpuSeconds.toFixed(1).padStart(9)}${wall.padStart(9)}${String(tests).padStart(8)}`;
  const rest = timings.slice(shown.length);
  return [
    `${'task'.padEnd(44)}${'CPU s'.padStart(9)}${'wall s'.padStart(9)}${'tests'.padStart(8)}`,
    ...shown.map(({ task, cpuSeconds, wallSeconds: wall, tests }) =>
      row(task, cpuSeconds, wall.toFixed(1), tests),
    ),
    ...(rest.length === 0
      ? []
      : [row(`${rest.length} more tasks`, sum(rest, 'cpuSeconds'), '', sum(rest, 'tests'))]),
    ...(allCpuSeconds === undefined
      ? []
      : [row('Nx and the shared servers', Math.max(0, allCpuSeconds - cpu), '', 0)]),
    row('total', Math.max(cpu, allCpuSeconds ?? 0), wallSeconds.toFixed(1), sum(timings, 'tests')),
  ].join('\n');
}
