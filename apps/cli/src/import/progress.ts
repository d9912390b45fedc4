/** Shows the progress of a long command on a terminal. Shows nothing elsewhere. */
import { progressBar } from '@muster/terminal';

export interface ImportProgressBar {
  readonly show: (done: number) => void;
  readonly end: () => void;
}

export const formatNumber = (count: number): string => count.toLocaleString('en');
const formatRemainingTime = (seconds: number): string =>
  seconds >= 90 ? `${Math.round(seconds / 60)} min left` : `${Math.max(1, Math.round(seconds))} s left`;

/**
 * Shows progress, and the remaining time once a fair part of the whole is done. `now` returns milliseconds.
 */
export function createProgressBar(
  total: number,
  output: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
  nowMillis: () => number = () => performance.now(),
): ImportProgressBar {
  if (!output.isTTY) return { show: () => undefined, end: () => undefined };
  const started = nowMillis();
  return {
    show: (done) => {
      const seconds = (((nowMillis() - started) / 1000) * (total - done)) / done;
      const left = done > total / 50 && done < total ? `, ${formatRemainingTime(seconds)}` : '';
      output.write(
        `\r${progressBar(done, total)} ${formatNumber(done)} of ${formatNumber(total)}${left}\u001b[K`,
      );
    },
    end: () => void output.write('\r\u001b[K'),
  };
}
