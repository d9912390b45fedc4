import { exitWhenOutputCloses, exitCodes, continueWhenOutputCloses } from '@muster/terminal';
import { CommanderError } from 'commander';
import { reportError } from './failures.ts';
import { createProgram } from './program.ts';

/** Runs the command line of this process and sets its exit code. */
export async function runCommandLine(words = process.argv.slice(2)): Promise<void> {
  // Treats `muster help stories create` as `muster stories create --help`.
  const typed = words[0] === 'help' ? [...words.slice(1), '--help'] : words;
  exitWhenOutputCloses(process.stdout);
  continueWhenOutputCloses(process.stderr);
  try {
    await createProgram().parseAsync(typed, { from: 'user' });
  } catch (error) {
    // Commander has already printed the message. Asking for help is not a usage error, but a missing
    // subcommand is.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
    else reportError(error, { json: typed.includes('--json') });
  }
}
