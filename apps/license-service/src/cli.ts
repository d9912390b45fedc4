/** The `license` program: runs the command line on the terminal of this process. */
import { createInterface } from 'node:readline/promises';
import { exitWhenOutputCloses, continueWhenOutputCloses } from '@muster/terminal';
import { runCommandLine } from './command-line.ts';
import { createProgressBar } from './progress.ts';

async function readLines(prompt: string): Promise<string[]> {
  if (process.stdin.isTTY) {
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    const line = await terminal.question(`${prompt}: `);
    terminal.close();
    return line.trim() === '' ? [] : [line];
  }
  const lines: string[] = [];
  for await (const line of createInterface({ input: process.stdin }))
    if (line.trim() !== '') lines.push(line);
  return lines;
}

exitWhenOutputCloses(process.stdout);
continueWhenOutputCloses(process.stderr);
process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  readLines,
  writeStdout: (text) => void process.stdout.write(text),
  writeStderr: (text) => void process.stderr.write(text),
  progress: createProgressBar(process.stderr),
});
