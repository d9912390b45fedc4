/** The output of a runner: one line for each event, or JSON for scripts. */
import { terminalSafeJson, stdoutFormat, sanitizeForTerminal, wrapLines } from '@muster/terminal';

export interface RunnerReporter {
  /** Reports a step of the runner; `facts` are for scripts. */
  readonly reportStep: (story: string, event: string, line: string, facts?: object) => void;
  /** Passes on a line that an agent or a hook printed. */
  readonly printOutputLine: (story: string, line: string) => void;
  /** Reports a problem that does not end the run. */
  readonly warn: (line: string) => void;
}

interface RunnerReporterOptions {
  readonly json: boolean;
  readonly quiet: boolean;
}

export function createRunnerReporter({ json, quiet }: RunnerReporterOptions): RunnerReporter {
  const print = (value: object): void => void process.stdout.write(`${terminalSafeJson(value)}\n`);
  if (json)
    return {
      reportStep: (story, event, line, facts = {}) => {
        print({ at: new Date().toISOString(), story, event, message: line, ...facts });
      },
      printOutputLine: (story, line) => {
        if (!quiet) print({ at: new Date().toISOString(), story, event: 'output', message: line });
      },
      warn: (line) => {
        print({ at: new Date().toISOString(), story: null, event: 'warning', message: line });
      },
    };
  return {
    reportStep: (story, _event, line) => {
      const lines = wrapLines([`${story}  ${line}`], stdoutFormat().width, story.length + 2);
      process.stdout.write(`${lines.join('\n')}\n`);
    },
    printOutputLine: (story, line) => {
      if (!quiet)
        process.stdout.write(`${sanitizeForTerminal(`${story} │ ${line}`).replaceAll('\n', ' ')}\n`);
    },
    warn: (line) => {
      const { isTTY, columns } = process.stderr;
      const lines = wrapLines([`muster: ${line}`], isTTY ? columns : undefined, 'muster: '.length);
      process.stderr.write(`${lines.join('\n')}\n`);
    },
  };
}
