// Whoever read this may go away (`npm start | head`), and what was started goes on.
process.stdout.on('error', () => undefined);

/** What is under way, by name, and since when. */
const underWay = new Map<string, number>();
/** A terminal is told each second how long it takes; a file, which keeps every line, now and then. */
const secondsBetween = process.stdout.isTTY ? 1 : 10;
let ticker: NodeJS.Timeout | undefined;

const secondsSince = (started: number): number => (Date.now() - started) / 1000;

/** The line of what is under way; empty where nothing is. */
function current(): string {
  if (underWay.size === 0) return '';
  const longest = Math.max(...[...underWay.values()].map(secondsSince));
  const line = `  … ${[...underWay.keys()].join(', ')}  ${longest.toFixed(0)} s`;
  return process.stdout.isTTY ? line.slice(0, process.stdout.columns - 1) : line;
}

/** On a terminal the line of what is under way is the last one, and written over. */
function redraw(): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${current()}`);
}

function tick(): void {
  if (process.stdout.isTTY) redraw();
  else if (underWay.size > 0) process.stdout.write(`${current()}\n`);
}

/** Says something to whoever watches the start. */
export function say(line: string): void {
  process.stdout.write(process.stdout.isTTY ? `\r\x1b[K${line}\n${current()}` : `${line}\n`);
}

/** Does one step of the start, beside others or alone, and shows it with the time it took, and while it lasts. */
export async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const started = Date.now();
  underWay.set(name, started);
  ticker ??= setInterval(tick, secondsBetween * 1000).unref();
  redraw();
  const end = (mark: string): void => {
    underWay.delete(name);
    say(`  ${mark} ${name.padEnd(20)} ${secondsSince(started).toFixed(1)} s`);
  };
  try {
    const result = await work();
    end('✓');
    return result;
  } catch (error) {
    end('✗');
    throw error;
  }
}
