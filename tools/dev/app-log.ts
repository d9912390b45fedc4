import { type ChildProcess, type StdioOptions } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { prettyFactory } from 'pino-pretty';
import { logFolder, makePrivate, repositoryRoot } from './repository.ts';

/** Receives an app's output: all of it goes to a file, and warnings also to the terminal. */
export interface AppLog {
  readonly stdio: StdioOptions;
  /** The path relative to the root of the repository. */
  readonly file: string;
  follow(child: ChildProcess): void;
  tail(): Promise<string>;
  close(): Promise<void>;
}

let shownFrom = Infinity;

/**
 * Shows warnings of apps on the terminal from now on. While the apps start, their output would bury the list
 * of steps; a start that fails prints the end of the log anyway.
 */
export function beginShowingLogs(): void {
  shownFrom = Date.now();
}

/** The level of warnings in logs of pino. */
const warningLevel = 40;

/**
 * Returns true if a line of an app is shown on the terminal: warnings and errors, and anything on stderr that
 * is not a log line.
 * All other lines are only in the log file, so that the addresses printed by the start stay visible.
 */
export function isWarning(line: string, stream: 'stdout' | 'stderr'): boolean {
  const level = /^\{.*?"level":(\d+)/.exec(line)?.[1];
  return level === undefined ? stream === 'stderr' && line.trim() !== '' : Number(level) >= warningLevel;
}

/**
 * Returns true if the line was written after warnings began to be shown. A line may arrive late, so the time
 * in the line counts if it has one.
 */
function isRecent(line: string): boolean {
  const writtenAt = /"time":(\d+)/.exec(line)?.[1];
  return (writtenAt === undefined ? Date.now() : Number(writtenAt)) >= shownFrom;
}

/** Opens a new log. An app that restarts continues it. */
export async function openAppLog(name: string): Promise<AppLog> {
  const file = path.join(logFolder, `${name}.log`);
  makePrivate(logFolder);
  const handle = await open(file, 'w');
  // Without a terminal the app writes into the file directly, so that the log does not depend on this
  // process.
  const shown = process.stdout.isTTY;
  const pretty = prettyFactory({
    colorize: true,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
    // Hides fields that have the same value in every line of a process or organization.
    ignore: 'pid,hostname,name,orgId,memberId,agentId',
  });
  const show = (line: string): void => {
    const app = /"name":"([\w-]+)"/.exec(line)?.[1] ?? name;
    const prefix = `\u001b[2m${app}\u001b[22m `;
    const text = line.startsWith('{') ? pretty(line) : `${line}\n`;
    process.stdout.write(text.replace(/^(?=.)/gm, prefix));
  };
  const follow = (child: ChildProcess): void => {
    for (const name of ['stdout', 'stderr'] as const) {
      const input = child[name];
      if (input === null) continue;
      createInterface({ input }).on('line', (line) => {
        void handle.appendFile(`${line}\n`).catch(() => undefined);
        if (isWarning(line, name) && isRecent(line)) show(line);
      });
    }
  };
  return {
    stdio: shown ? ['ignore', 'pipe', 'pipe'] : ['ignore', handle.fd, handle.fd],
    file: path.relative(repositoryRoot, file),
    follow,
    tail: async () => (await readFile(file, 'utf8')).trimEnd().split('\n').slice(-12).join('\n'),
    close: () => handle.close(),
  };
}
