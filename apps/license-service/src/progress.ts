/** Shows the progress of a long command as a bar on a terminal. */
import { progressBar } from '@muster/terminal';

export type ReportProgress = (done: number, total: number) => void;

/** Creates a progress bar. The bar prints nothing if the output is not a terminal. */
export function createProgressBar(output: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>): ReportProgress {
  if (!output.isTTY) return () => undefined;
  return (done, total) => {
    output.write(done < total ? `\r${progressBar(done, total)} ${done} of ${total}\u001b[K` : '\r\u001b[K');
  };
}
