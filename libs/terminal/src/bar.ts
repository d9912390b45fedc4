const barWidth = 30;

/** Draws a progress bar, such as `[###...]`. */
export function progressBar(done: number, total: number): string {
  const filled = Math.round((barWidth * done) / Math.max(total, 1));
  return `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}]`;
}
