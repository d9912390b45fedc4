import { describe, expect, it } from '@jest/globals';
import { onOneLine, plain } from './plain.ts';

describe('a text of somebody else', () => {
  it.each([
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b]0;title\u0007after', 'after'],
    ['a\rb\u0008c', 'a b c'],
    ['evil\u202egnp.exe', 'evil gnp.exe'],
    ['Zoë 👩‍👧', 'Zoë 👩‍👧'],
  ])('%j is shown as %j', (text, shown) => {
    expect(plain(text)).toBe(shown);
  });

  it('keeps its lines where there is room, and has one where there is none', () => {
    expect(plain('a\nb')).toBe('a\nb');
    expect(onOneLine('a\n\t b ')).toBe('a b');
  });
});
