/** How far a long command is, as a bar on a terminal. */
import { bar } from '@muster/terminal';

export type Progress = (done: number, total: number) => void;

/** Elsewhere than on a terminal it shows nothing. */
export function progressOn(out: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>): Progress {
  if (!out.isTTY) return () => undefined;
  return (done, total) => {
    out.write(done < total ? `\r${bar(done, total)} ${done} of ${total}\u001b[K` : '\r\u001b[K');
  };
}
