// Whoever read this may go away (`npm start | head`), and what was started goes on.
process.stdout.on('error', () => undefined);

/** Says something to whoever watches the start. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Does one step of the start and shows it with the time it took; on a terminal also while it lasts. */
export async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const started = Date.now();
  const seconds = (): string => `${((Date.now() - started) / 1000).toFixed(1)} s`;
  if (process.stdout.isTTY) process.stdout.write(`  … ${name}\r`);
  try {
    const result = await work();
    say(`  ✓ ${name.padEnd(20)} ${seconds()}`);
    return result;
  } catch (error) {
    say(`  ✗ ${name.padEnd(20)} ${seconds()}`);
    throw error;
  }
}
