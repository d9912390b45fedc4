/**
 * Runs a command in its own process group, which ends with the runner even if the runner is killed.
 * The command begins only after its process has been recorded. Until then a shell waits in its place, and it
 * exits if the runner is gone.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { type Readable, type Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { type RunLogStream } from '@muster/contract';
import { identifyProcess, type ProcessId, runIdVariable, stopProcesses } from './processes.ts';

export interface ProcessGroupOptions {
  readonly runId: string;
  readonly command: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** The text for standard input. If it is undefined, the caller uses `pipes` instead. */
  readonly input?: string;
  /** The file to which output is appended. */
  readonly logFile: string;
  readonly onLine?: (line: string, stream: RunLogStream) => void;
  /**
   * Called with the command's process before the command begins. The command begins when `onReady` has
   * returned.
   */
  readonly onReady?: (leader: ProcessId) => Promise<void>;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProcessGroup {
  /** Resolves when the first process has exited. Its children may still run. */
  readonly exited: Promise<ProcessExit>;
  /** Returns the time of the last output, as given by performance.now(). */
  readonly lastOutputMillis: () => number;
  /** Returns the last lines of output. */
  readonly lastLines: () => string;
  /** Adds a line to the output that the command itself did not print, such as a message of an agent. */
  readonly printLine: (line: string, stream?: 'stdout' | 'tool') => void;
  /** Resets the time of the last output, so that the command does not count as idle. */
  readonly resetIdleTime: () => void;
  /** The standard input and output, if no input was given. */
  readonly pipes: { readonly input: Writable; readonly output: Readable };
  /** Ends all processes of the group, and returns when none is left. */
  stop(graceMillis: number): Promise<void>;
}

const waitForGoScript = 'IFS= read -r word <&3 && [ "$word" = go ] && exec 3<&- && exec "$@"';

/**
 * The script that ends the process group when its standard input closes. The input closes when the runner is
 * gone.
 */
const processGroupGuardScript = `cat >/dev/null
kill -s TERM -- "-$1" 2>/dev/null
for second in 1 2 3 4 5 6 7 8 9 10; do
  kill -s 0 -- "-$1" 2>/dev/null || exit 0
  sleep 1
done
kill -s KILL -- "-$1" 2>/dev/null`;

const maxTailLines = 40;
const maxLineChars = 2_000;
/** Agents report their usage in lines of JSON, whose text can be long. */
const maxJsonLineChars = 250_000;

function startGuard(groupId: number): () => Promise<void> {
  const child = spawn('/bin/sh', ['-c', processGroupGuardScript, 'muster-guard', String(groupId)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  const over = once(child, 'exit');
  child.stdin.on('error', () => undefined);
  return async () => {
    child.kill('SIGKILL');
    await over;
  };
}

export async function startProcessGroup(options: ProcessGroupOptions): Promise<ProcessGroup> {
  const { runId, command, folder, env, input, logFile, onLine = () => undefined, onReady } = options;
  const child = spawn('/bin/sh', ['-c', waitForGoScript, 'sh', ...command], {
    cwd: folder,
    env: { ...env, [runIdVariable]: runId },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const exited = new Promise<ProcessExit>((resolve, reject) => {
    child.once('exit', (code, signal) => {
      resolve({ code, signal });
    });
    child.once('error', reject);
  });
  const { pid } = child;
  // The command could not start: the folder is gone, or the machine has no resources left.
  if (pid === undefined) return exited.then(() => Promise.reject(new Error('it did not start')));

  const { stdout, stderr } = child;
  const lines: LogSources = input === undefined ? { stderr } : { stdout, stderr };
  const said = collectOutput(lines, createWriteStream(logFile, { flags: 'a' }), onLine);
  for (const stream of [child.stdin, child.stdio[3]]) stream?.on('error', () => undefined);
  const leader = await identifyProcess(pid);
  const endGuard = startGuard(pid);
  const stop = async (graceMillis: number): Promise<void> => {
    await stopProcesses({ runId, group: pid, graceMillis });
    await exited;
    await endGuard();
    said.end();
  };
  try {
    if (leader !== undefined) await onReady?.(leader);
  } catch (error) {
    await stop(0);
    throw error;
  }
  const go = child.stdio[3];
  if (go !== null && go !== undefined && 'end' in go) go.end('go\n');
  if (input !== undefined) child.stdin.end(input);
  const pipes = { input: child.stdin, output: child.stdout };
  return { exited, stop, pipes, lastOutputMillis: said.lastActivityMillis, ...said };
}

interface OutputCollector {
  readonly lastActivityMillis: () => number;
  readonly lastLines: () => string;
  readonly printLine: ProcessGroup['printLine'];
  readonly resetIdleTime: () => void;
  readonly end: () => void;
}

type LogSources = Readonly<Partial<Record<'stdout' | 'stderr', NodeJS.ReadableStream>>>;

function collectOutput(
  streams: LogSources,
  file: WriteStream,
  onLine: (line: string, stream: RunLogStream) => void,
): OutputCollector {
  let last = performance.now();
  const lines: string[] = [];
  const tell = (line: string, source: RunLogStream): void => {
    lines.push(line.slice(0, maxLineChars));
    if (lines.length > maxTailLines) lines.shift();
    onLine(line, source);
  };
  file.on('error', () => undefined);
  for (const source of ['stdout', 'stderr'] as const) {
    const stream = streams[source];
    if (stream === undefined) continue;
    const decoder = new StringDecoder('utf8');
    let begun = '';
    stream.on('data', (chunk: Buffer) => {
      last = performance.now();
      file.write(chunk);
      const parts = `${begun}${decoder.write(chunk)}`.split('\n');
      begun = parts.pop() ?? '';
      // Cut a line that never ends, so that it does not fill the memory.
      const maxChars = begun.startsWith('{') ? maxJsonLineChars : maxLineChars;
      if (begun.length > maxChars) parts.push(begun.slice(0, maxLineChars));
      if (begun.length > maxChars) begun = '';
      for (const line of parts) tell(line, source);
    });
    stream.on('end', () => {
      if (begun !== '') tell(begun, source);
    });
  }
  return {
    lastActivityMillis: () => last,
    lastLines: () => lines.join('\n'),
    resetIdleTime: () => {
      last = performance.now();
    },
    printLine: (line, source = 'stdout') => {
      last = performance.now();
      file.write(`${line}\n`);
      tell(line, source);
    },
    end: () => {
      file.end();
    },
  };
}
