/** The command `muster watch`. */
import { type Command, InvalidArgumentError } from 'commander';
import { jsonText, pageOfStdout } from '@muster/terminal';
import { addConnectionFlags, type ConnectionFlags, findConnection } from '../session/connection.ts';
import { clientOf } from '../operations/run.ts';
import { openScreen } from './screen.ts';
import { createLook } from './look.ts';
import { openNews } from './news.ts';
import { viewOf } from './view.ts';

interface WatchFlags extends ConnectionFlags {
  readonly project?: string;
  readonly interval: number;
  readonly json?: boolean;
}

function toSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 1 && seconds <= 3600))
    throw new InvalidArgumentError('The value must be 1 to 3600 seconds.');
  return seconds;
}

export function fillWatch(command: Command): void {
  addConnectionFlags(
    command
      .description(
        'Shows live who is at work, what they hold and until when; q or Ctrl-C ends it. If stdout is not a terminal, it prints the state once.',
      )
      .option('--project <project>', 'only this project; by default all projects that you can see')
      .option('--interval <seconds>', 'the minimum time between updates', toSeconds, 2)
      .option('--json', 'print the state once, as JSON, for scripts'),
  ).action(watch);
}

async function watch(flags: WatchFlags): Promise<void> {
  const connection = await findConnection(flags);
  const look = createLook(clientOf(connection), flags.project);
  if (flags.json === true) {
    process.stdout.write(`${jsonText(await look())}\n`);
    return;
  }
  // Errors at the start, such as a wrong token or project, are reported as in any command and not on the
  // screen.
  const first = await look();
  if (!process.stdout.isTTY) {
    process.stdout.write(`${viewOf(first, { ...pageOfStdout(), height: undefined }).join('\n')}\n`);
    return;
  }
  const leaving = new AbortController();
  try {
    const news = openNews(connection, flags.project, flags.interval, leaving.signal);
    await openScreen({ look, first, news });
  } finally {
    leaving.abort();
  }
}
