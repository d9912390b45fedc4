/** Identifies the processes of a run, also when a process id is reused, and ends them together. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

/** A process id with its start time, because another process may reuse the id. */
export interface ProcessId {
  readonly pid: number;
  readonly began: string;
}

/** The environment variable that marks all processes of a run, including those that left its group. */
export const runIdVariable = 'MUSTER_RUN_ID';

interface ListedProcess {
  readonly pid: number;
  readonly group: number;
  readonly began: string;
  readonly isOver: boolean;
  /** The processor time in ticks of the system, or 0 where the system does not report it. */
  readonly spent: number;
}

const hasProcFileSystem = process.platform === 'linux';

/**
 * Reads a file of the kernel about a process. Returns undefined if the process is gone or belongs to another
 * user.
 * It reads synchronously because no disk is involved. Handing so many small reads to other threads takes four
 * times the processor time.
 */
function readProcFile(file: string, encoding: 'utf8' | 'latin1' = 'utf8'): string | undefined {
  try {
    return readFileSync(`/proc/${file}`, encoding);
  } catch {
    return undefined;
  }
}

/**
 * Parses the stat file of a process. The name may hold spaces and brackets; the fields after the last bracket
 * have a fixed order.
 */
function parseStat(stat: string): ListedProcess {
  const rest = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    pid: Number.parseInt(stat, 10),
    group: Number(rest[2]),
    began: rest[19] ?? '',
    isOver: rest[0] === 'Z' || rest[0] === 'X',
    spent: Number(rest[11]) + Number(rest[12]),
  };
}

function listFromProc(): ListedProcess[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    const stat = readProcFile(`${pid}/stat`);
    return stat === undefined ? [] : [parseStat(stat)];
  });
}

async function listFromPs(): Promise<ListedProcess[]> {
  const ps = spawn('ps', ['-axo', 'pid=,pgid=,stat=,lstart='], { stdio: ['ignore', 'pipe', 'ignore'] });
  return (await text(ps.stdout)).split('\n').flatMap((line) => {
    const [, pid, group, state = '', began = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*\S)\s*$/.exec(line) ?? [];
    return pid === undefined
      ? []
      : [{ pid: Number(pid), group: Number(group), began, isOver: state.startsWith('Z'), spent: 0 }];
  });
}

const listProcesses = async (): Promise<ListedProcess[]> =>
  hasProcFileSystem ? listFromProc() : listFromPs();

/** Returns undefined if no process has that id. */
export async function identifyProcess(pid: number): Promise<ProcessId | undefined> {
  if (hasProcFileSystem) {
    const stat = readProcFile(`${pid}/stat`);
    const found = stat === undefined ? undefined : parseStat(stat);
    return found === undefined || found.isOver ? undefined : { pid, began: found.began };
  }
  const found = (await listFromPs()).find((one) => one.pid === pid && !one.isOver);
  return found && { pid, began: found.began };
}

export const isProcessAlive = async (processId: ProcessId): Promise<boolean> =>
  (await identifyProcess(processId.pid))?.began === processId.began;

const carriesRunId = (pid: number, runId: string): boolean =>
  readProcFile(`${pid}/environ`, 'latin1')?.split('\0').includes(`${runIdVariable}=${runId}`) === true;

/** Returns the processor time of a run's live processes, in ticks. */
export async function processorTicksOf(runId: string): Promise<number> {
  if (!hasProcFileSystem) return 0;
  const pids = new Set(await listRunProcesses(runId, undefined));
  return (await listProcesses()).reduce((sum, { pid, spent }) => sum + (pids.has(pid) ? spent : 0), 0);
}

/** Lists the processes of a group, and on Linux all processes that carry the run's mark. */
export async function listRunProcesses(runId: string, group: number | undefined): Promise<number[]> {
  return (await listProcesses())
    .filter(({ isOver, pid }) => !isOver && pid !== process.pid)
    .filter(({ pid, group: of }) => of === group || (hasProcFileSystem && carriesRunId(pid, runId)))
    .map(({ pid }) => pid);
}

export interface StopOptions {
  readonly runId: string;
  readonly group: number | undefined;
  /** The delay in milliseconds between the first signal and the kill. */
  readonly graceMillis: number;
}

/**
 * Ends all processes of a run. Sends SIGTERM, waits for the grace period, then sends SIGKILL. Returns when
 * none is left.
 */
export async function stopProcesses({ runId, group, graceMillis }: StopOptions): Promise<void> {
  const deadline = performance.now() + graceMillis;
  let asked = new Set<number>();
  for (;;) {
    const left = await listRunProcesses(runId, group);
    if (left.length === 0) return;
    const isLate = performance.now() >= deadline;
    for (const pid of left) {
      if (isLate) sendSignal(pid, 'SIGKILL');
      else if (!asked.has(pid)) sendSignal(pid, 'SIGTERM');
    }
    asked = new Set(left);
    // Each check reads every process of the machine. The delay between checks grows, so that an early exit is
    // noticed soon and a late one costs few checks.
    const remaining = deadline - performance.now();
    await pause(isLate ? 20 : Math.max(20, Math.min(500, (graceMillis - remaining) / 5, remaining)));
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // The process ended before the signal was sent.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
