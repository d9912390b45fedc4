// The reader of the output may close it (`npm start | head`). The started programs continue.
process.stdout.on('error', () => undefined);

/** The names of current steps and their start times. */
const underWay = new Map<string, number>();
/**
 * The interval of progress lines: each second on a terminal, and less often in a file, which keeps every
 * line.
 */
const secondsBetween = process.stdout.isTTY ? 1 : 10;
let ticker: NodeJS.Timeout | undefined;

const secondsSince = (started: number): number => (Date.now() - started) / 1000;

/** Returns the line about current steps, or an empty text if there are none. */
function statusLine(): string {
  if (underWay.size === 0) return '';
  const longest = Math.max(...[...underWay.values()].map(secondsSince));
  const line = `  … ${[...underWay.keys()].join(', ')}  ${longest.toFixed(0)} s`;
  return process.stdout.isTTY ? line.slice(0, process.stdout.columns - 1) : line;
}

/** Rewrites the line about current steps, which is the last one on a terminal. */
function redraw(): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${statusLine()}`);
}

function tick(): void {
  if (process.stdout.isTTY) redraw();
  else if (underWay.size > 0) process.stdout.write(`${statusLine()}\n`);
}

/** Prints a line for the person who watches the start. */
export function say(line: string): void {
  process.stdout.write(process.stdout.isTTY ? `\r\x1b[K${line}\n${statusLine()}` : `${line}\n`);
}

/**
 * Runs one step of the start, possibly at the same time as others, and shows it with its duration while it
 * runs and afterwards.
 */
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
