/** Shows the progress of a long command on a terminal. Shows nothing elsewhere. */
import { bar } from '@muster/terminal';

export interface ImportProgressBar {
  readonly show: (done: number) => void;
  readonly end: () => void;
}

const remaining = (seconds: number): string =>
  seconds >= 90 ? `${Math.round(seconds / 60)} min left` : `${Math.max(1, Math.round(seconds))} s left`;

/**
 * Shows progress, and the remaining time once a fair part of the whole is done. `now` returns milliseconds.
 */
export function progressOf(
  total: number,
  out: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
  now: () => number = () => performance.now(),
): ImportProgressBar {
  if (!out.isTTY) return { show: () => undefined, end: () => undefined };
  const started = now();
  const number = (count: number): string => count.toLocaleString('en');
  return {
    show: (done) => {
      const seconds = (((now() - started) / 1000) * (total - done)) / done;
      const left = done > total / 50 && done < total ? `, ${remaining(seconds)}` : '';
      out.write(`\r${bar(done, total)} ${number(done)} of ${number(total)}${left}\u001b[K`);
    },
    end: () => void out.write('\r\u001b[K'),
  };
}
