import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { excerpt } from './excerpts.ts';

describe('an excerpt', () => {
  it.each([
    ['short', 10, 'short'],
    ['  two\n\nlines ', 20, 'two lines'],
    ['exactly ten', 11, 'exactly ten'],
    ['one too many', 11, 'one too ma…'],
    ['cut at a space', 7, 'cut at…'],
    ['😀😀😀', 2, '😀…'],
    ['', 5, ''],
  ])('of %j in %i is %j', (text, most, expected) => {
    expect(excerpt(text, most)).toBe(expected);
  });

  it('fits, stands on one line, and begins as the text does', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 40 }), (text, most) => {
        const short = excerpt(text, most);
        expect(Array.from(short).length).toBeLessThanOrEqual(most);
        expect(short).not.toMatch(/[\r\n\t]/);
        expect(text.trim().replaceAll(/\s+/g, ' ').startsWith(short.replace(/…$/, ''))).toBe(true);
      }),
    );
  });
});
