const width = 30;

/** Draws a progress bar, such as `[###...]`. */
export function bar(done: number, total: number): string {
  const filled = Math.round((width * done) / Math.max(total, 1));
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}]`;
}
