/** Shows the progress of a long command as a bar on a terminal. */
import { bar } from '@muster/terminal';

export type ReportProgress = (done: number, total: number) => void;

/** Creates a progress bar. The bar prints nothing if the output is not a terminal. */
export function progressOn(out: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>): ReportProgress {
  if (!out.isTTY) return () => undefined;
  return (done, total) => {
    out.write(done < total ? `\r${bar(done, total)} ${done} of ${total}\u001b[K` : '\r\u001b[K');
  };
}
