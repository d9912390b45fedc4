/** The output of a runner: one line for each event, or JSON for scripts. */
import { jsonText, pageOfStdout, plain, wrapped } from '@muster/terminal';

export interface Say {
  /** Reports a step of the runner; `facts` are for scripts. */
  readonly tell: (story: string, event: string, line: string, facts?: object) => void;
  /** Passes on a line that an agent or a hook printed. */
  readonly pass: (story: string, line: string) => void;
  /** Reports a problem that does not end the run. */
  readonly warn: (line: string) => void;
}

export function openSay({ json, quiet }: { readonly json: boolean; readonly quiet: boolean }): Say {
  const print = (value: object): void => void process.stdout.write(`${jsonText(value)}\n`);
  if (json) {
    return {
      tell: (story, event, line, facts = {}) => {
        print({ at: new Date().toISOString(), story, event, message: line, ...facts });
      },
      pass: (story, line) => {
        if (!quiet) print({ at: new Date().toISOString(), story, event: 'output', message: line });
      },
      warn: (line) => {
        print({ at: new Date().toISOString(), story: null, event: 'warning', message: line });
      },
    };
  }
  return {
    tell: (story, _event, line) => {
      const lines = wrapped([`${story}  ${line}`], pageOfStdout().width, story.length + 2);
      process.stdout.write(`${lines.join('\n')}\n`);
    },
    pass: (story, line) => {
      if (!quiet) process.stdout.write(`${plain(`${story} │ ${line}`).replaceAll('\n', ' ')}\n`);
    },
    warn: (line) => {
      const { isTTY, columns } = process.stderr;
      const lines = wrapped([`muster: ${line}`], isTTY ? columns : undefined, 'muster: '.length);
      process.stderr.write(`${lines.join('\n')}\n`);
    },
  };
}
