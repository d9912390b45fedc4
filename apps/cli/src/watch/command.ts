/** The command `muster watch`. */
import { type Command, InvalidArgumentError } from 'commander';
import { terminalSafeJson, stdoutFormat } from '@muster/terminal';
import { addConnectionFlags, type ConnectionFlags, findConnection } from '../session/connection.ts';
import { createCommandClient } from '../operations/run.ts';
import { openScreen } from './screen.ts';
import { createSnapshotReader } from './look.ts';
import { openChangeFeed } from './news.ts';
import { formatSnapshot } from './view.ts';

interface WatchFlags extends ConnectionFlags {
  readonly project?: string;
  readonly interval: number;
  readonly json?: boolean;
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 1 && seconds <= 3600))
    throw new InvalidArgumentError('The value must be 1 to 3600 seconds.');
  return seconds;
}

export function configureWatchCommand(command: Command): void {
  addConnectionFlags(
    command
      .description(
        'Shows live who is at work, what they hold and until when; q or Ctrl-C ends it. If stdout is not a terminal, it prints the state once.',
      )
      .option('--project <project>', 'only this project; by default all projects that you can see')
      .option('--interval <seconds>', 'the minimum time between updates', parseSeconds, 2)
      .option('--json', 'print the state once, as JSON, for scripts'),
  ).action(runWatch);
}

async function runWatch(flags: WatchFlags): Promise<void> {
  const connection = await findConnection(flags);
  const look = createSnapshotReader(createCommandClient(connection), flags.project);
  if (flags.json === true) {
    process.stdout.write(`${terminalSafeJson(await look())}\n`);
    return;
  }
  // Errors at the start, such as a wrong token or project, are reported as in any command and not on the
  // screen.
  const first = await look();
  if (!process.stdout.isTTY) {
    process.stdout.write(`${formatSnapshot(first, { ...stdoutFormat(), height: undefined }).join('\n')}\n`);
    return;
  }
  const leaving = new AbortController();
  try {
    const news = openChangeFeed(connection, flags.project, flags.interval, leaving.signal);
    await openScreen({ readSnapshot: look, firstSnapshot: first, changeFeed: news });
  } finally {
    leaving.abort();
  }
}
