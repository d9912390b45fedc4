import { type ChildProcess, type StdioOptions } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { prettyFactory } from 'pino-pretty';
import { type AppName } from './ports.ts';
import { logFolder, makePrivate, repositoryRoot } from './repository.ts';

/** What becomes of an app's output: always a file of JSON lines, on a terminal also lines for people. */
export interface AppLog {
  readonly stdio: StdioOptions;
  /** From the root of the repository. */
  readonly file: string;
  follow(child: ChildProcess): void;
  tail(): Promise<string>;
  close(): Promise<void>;
}

let shownFrom = Infinity;

/**
 * From now on what apps write is shown on the terminal too. What they write while all comes up, the hundred calls that
 * make the demo among it, would bury the steps and the page; a start that fails shows the end of the log anyway.
 */
export function beginShowingLogs(): void {
  shownFrom = Date.now();
}

/** A line may arrive late: what counts is when it was written, where it says so. */
function isShown(line: string): boolean {
  const writtenAt = /"time":(\d+)/.exec(line)?.[1];
  return (writtenAt === undefined ? Date.now() : Number(writtenAt)) >= shownFrom;
}

/** Opens a new log; an app that is started again goes on in it. */
export async function openAppLog(name: AppName): Promise<AppLog> {
  const file = path.join(logFolder, `${name}.log`);
  makePrivate(logFolder);
  const handle = await open(file, 'w');
  // Without a terminal the app writes into the file itself, and nothing of ours stands between.
  const shown = process.stdout.isTTY;
  const pretty = prettyFactory({
    colorize: true,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
    // One process, one organization: what is the same in every line says nothing.
    ignore: 'pid,hostname,name,orgId,memberId,agentId',
  });
  const show = (line: string): void => {
    const prefix = `\u001b[2m${name}\u001b[22m `;
    const text = line.startsWith('{') ? pretty(line) : `${line}\n`;
    process.stdout.write(text.replace(/^(?=.)/gm, prefix));
  };
  const follow = (child: ChildProcess): void => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        void handle.appendFile(`${line}\n`).catch(() => undefined);
        if (isShown(line)) show(line);
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
