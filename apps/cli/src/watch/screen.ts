/** Shows one page on the terminal, redraws it, and restores the terminal afterwards. */
import { MusterError, NoAnswer } from '@muster/client';
import { stdoutFormat } from '@muster/terminal';
import { type WatchSnapshot } from './look.ts';
import { type ChangeFeed } from './news.ts';
import { formatSnapshot } from './view.ts';

/** Switches to the alternate screen without a cursor. The earlier contents come back afterwards. */
const enterAlternateScreen = '\u001b[?1049h\u001b[?25l';
const leaveAlternateScreen = '\u001b[?25h\u001b[?1049l';
const cursorHome = '\u001b[H';
const clearLine = '\u001b[K';
const clearBelow = '\u001b[J';

/** The redraw interval, because displayed times change even without news. */
const redrawIntervalMillis = 1_000;

export interface ScreenOptions {
  readonly readSnapshot: () => Promise<WatchSnapshot>;
  readonly firstSnapshot: WatchSnapshot;
  readonly changeFeed: ChangeFeed;
}

/** Returns the snapshot with the current time of the server's clock. */
const withCurrentTime = (snapshot: WatchSnapshot, readAtMillis: number): WatchSnapshot => ({
  ...snapshot,
  at: new Date(Date.parse(snapshot.at) + performance.now() - readAtMillis).toISOString(),
});

/** Shows the page until q, Ctrl-C or a signal. */
export async function openScreen({ readSnapshot, firstSnapshot, changeFeed }: ScreenOptions): Promise<void> {
  let seen = firstSnapshot;
  let seenAt = performance.now();
  let trouble: string | undefined;
  let drawn = '';
  let isLeft = false;
  const isOver = (): boolean => isLeft;
  const { promise: over, resolve: end } = Promise.withResolvers<undefined>();

  const draw = (): void => {
    const { rows } = process.stdout;
    const page = {
      ...stdoutFormat(),
      height: rows,
      ...(trouble !== undefined && { connectionProblem: trouble }),
    };
    const lines = formatSnapshot(withCurrentTime(seen, seenAt), page).slice(0, rows);
    const text = cursorHome + lines.map((line) => line + clearLine).join('\n') + clearBelow;
    if (text !== drawn) process.stdout.write(text);
    drawn = text;
  };
  const drawAnew = (): void => {
    drawn = '';
    draw();
  };
  const keepLooking = async (): Promise<void> => {
    for (;;) {
      await changeFeed.nextRefresh();
      if (isOver()) return;
      try {
        seen = await readSnapshot();
        seenAt = performance.now();
        trouble = undefined;
      } catch (error) {
        // The view continues after a temporary failure. An expired token is permanent.
        const passes = error instanceof NoAnswer || (error instanceof MusterError && error.status >= 429);
        if (!passes) throw error;
        trouble = `${error.message}; trying again`;
      }
      if (!isOver()) draw();
    }
  };

  const onSignal = (): void => end(undefined);
  const onKey = (key: Buffer): void => {
    if (['q', '\u0003', '\u0004'].includes(key.toString())) end(undefined);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  process.stdout.on('resize', drawAnew);
  // Without raw mode the terminal would print typed keys into the page.
  const { stdin } = process;
  if (stdin.isTTY) stdin.setRawMode(true).on('data', onKey);
  process.stdout.write(enterAlternateScreen);
  const drawing = setInterval(draw, redrawIntervalMillis);
  try {
    draw();
    await Promise.race([over, changeFeed.streamFailure, keepLooking()]);
  } finally {
    isLeft = true;
    clearInterval(drawing);
    if (stdin.isTTY) stdin.setRawMode(false).off('data', onKey).pause();
    process.stdout.off('resize', drawAnew);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, onSignal);
    process.stdout.write(leaveAlternateScreen);
  }
}
