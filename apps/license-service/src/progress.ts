/** How far a long command is, as a bar on a terminal. */
const width = 30;

export type Progress = (done: number, total: number) => void;

/** Elsewhere than on a terminal it shows nothing. */
export function progressOn(out: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>): Progress {
  if (!out.isTTY) return () => undefined;
  return (done, total) => {
    const filled = Math.round((width * done) / Math.max(total, 1));
    const bar = `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${done} of ${total}`;
    out.write(done < total ? `\r${bar}\u001b[K` : '\r\u001b[K');
  };
}
