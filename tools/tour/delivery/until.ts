import { setTimeout as pause } from 'node:timers/promises';

const restMillis = 100;

/** Looks again and again until there is something, and throws when there is nothing for too long. */
export async function until<Found>(
  what: string,
  seconds: number,
  look: () => Promise<Found | undefined>,
): Promise<Found> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`${what} did not come in ${seconds} s`);
    await pause(restMillis);
  }
}
