import { expect, it } from '@jest/globals';
import { createProgressBar } from './progress.ts';

function shownOn(isTTY: boolean): string {
  let shown = '';
  const write = (text: string | Uint8Array) => {
    shown += String(text);
    return true;
  };
  let millis = 0;
  const progress = createProgressBar(4000, { isTTY, write }, () => millis);
  progress.show(0);
  millis = 150_000;
  progress.show(2000);
  progress.show(4000);
  progress.end();
  return shown;
}

it('grows on one line of a terminal, and leaves nothing behind', () => {
  const clear = '\u001b[K';
  expect(shownOn(true)).toBe(
    `\r[${'.'.repeat(30)}] 0 of 4,000${clear}\r[${'#'.repeat(15)}${'.'.repeat(15)}] 2,000 of 4,000, 3 min left${clear}\r[${'#'.repeat(30)}] 4,000 of 4,000${clear}\r${clear}`,
  );
});

it('is nothing in a pipe', () => {
  expect(shownOn(false)).toBe('');
});
