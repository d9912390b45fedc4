import { expect, it } from '@jest/globals';
import { progressOf } from './progress.ts';

function shownOn(isTTY: boolean): string {
  let shown = '';
  const progress = progressOf(4, {
    isTTY,
    write: (text: string | Uint8Array) => {
      shown += String(text);
      return true;
    },
  });
  progress.show(0);
  progress.show(2);
  progress.end();
  return shown;
}

it('grows on one line of a terminal, and leaves nothing behind', () => {
  const clear = '\u001b[K';
  expect(shownOn(true)).toBe(
    `\r[${'.'.repeat(30)}] 0 of 4${clear}\r[${'#'.repeat(15)}${'.'.repeat(15)}] 2 of 4${clear}\r${clear}`,
  );
});

it('is nothing in a pipe', () => {
  expect(shownOn(false)).toBe('');
});
