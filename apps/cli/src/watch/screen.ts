/** The terminal as one page that is drawn anew, and given back as it was. */
import { MusterError, NoAnswer } from '@muster/client';
import { pageOfStdout } from '../output/show.ts';
import { type Seen } from './look.ts';
import { viewOf } from './view.ts';

/** The other page of the terminal, without a cursor; what stood there before comes back afterwards. */
const enter = '\u001b[?1049h\u001b[?25l';
const leave = '\u001b[?25h\u001b[?1049l';
const home = '\u001b[H';
const clearLine = '\u001b[K';
const clearBelow = '\u001b[J';

export interface Screen {
  readonly look: () => Promise<Seen>;
  readonly first: Seen;
  readonly intervalSeconds: number;
}

/** Shows it until q, Ctrl-C or a signal. */
export async function openScreen({ look, first, intervalSeconds }: Screen): Promise<void> {
  let seen = first;
  let trouble: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const { promise: over, resolve: end, reject: fail } = Promise.withResolvers<undefined>();

  const draw = (): void => {
    const { rows } = process.stdout;
    const page = { ...pageOfStdout(), height: rows, ...(trouble !== undefined && { trouble }) };
    const lines = viewOf(seen, page).slice(0, rows);
    process.stdout.write(home + lines.map((line) => line + clearLine).join('\n') + clearBelow);
  };
  const lookAgain = async (): Promise<void> => {
    try {
      seen = await look();
      trouble = undefined;
    } catch (error) {
      // It may come back, and then the view goes on; a token that ended does not.
      const passes = error instanceof NoAnswer || (error instanceof MusterError && error.status >= 429);
      if (!passes) throw error;
      trouble = `${error.message}; trying again`;
    }
    draw();
    timer = setTimeout(lookOrFail, intervalSeconds * 1000);
  };
  const lookOrFail = (): void => void lookAgain().catch(fail);

  const onSignal = (): void => end(undefined);
  const onKey = (key: Buffer): void => {
    if (['q', '\u0003', '\u0004'].includes(key.toString())) end(undefined);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  process.stdout.on('resize', draw);
  // Without this, what is typed would be written into the page.
  const { stdin } = process;
  if (stdin.isTTY) stdin.setRawMode(true).on('data', onKey);
  process.stdout.write(enter);
  try {
    draw();
    timer = setTimeout(lookOrFail, intervalSeconds * 1000);
    await over;
  } finally {
    clearTimeout(timer);
    if (stdin.isTTY) stdin.setRawMode(false).off('data', onKey).pause();
    process.stdout.off('resize', draw);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, onSignal);
    process.stdout.write(leave);
  }
}
