import { endWhenUnread, exitCodes, goOnUnread } from '@muster/terminal';
import { CommanderError } from 'commander';
import { report } from './failures.ts';
import { createProgram } from './program.ts';

/** Runs the command line that this process was given; the process ends with its code. */
export async function start(words = process.argv.slice(2)): Promise<void> {
  // `muster help stories create` is `muster stories create --help`.
  const typed = words[0] === 'help' ? [...words.slice(1), '--help'] : words;
  endWhenUnread(process.stdout);
  goOnUnread(process.stderr);
  try {
    await createProgram().parseAsync(typed, { from: 'user' });
  } catch (error) {
    // It was said already. To ask for help is no mistake; to leave out what comes next is.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
    else report(error, { json: typed.includes('--json') });
  }
}
