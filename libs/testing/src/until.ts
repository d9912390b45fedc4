import { setTimeout as pause } from 'node:timers/promises';

/** After so long it will not come to be any more; less than a spec may take. */
const longestLookMillis = 45_000;
/** What is waited for needs the processor that looking takes. */
const lookMillis = 5;

/** Looks again and again until it is so. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + longestLookMillis;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('it did not come to be');
    await pause(lookMillis);
  }
}
