/** How far a long command is, on a terminal; elsewhere nothing. */
const width = 30;

export interface Progress {
  readonly show: (done: number) => void;
  readonly end: () => void;
}

export function progressOf(
  total: number,
  out: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
): Progress {
  if (!out.isTTY) return { show: () => undefined, end: () => undefined };
  return {
    show: (done) => {
      const filled = Math.round((width * done) / Math.max(1, total));
      out.write(`\r[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${done} of ${total}\u001b[K`);
    },
    end: () => void out.write('\r\u001b[K'),
  };
}
