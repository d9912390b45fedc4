import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { skipToPart, jsonBytesOf, type ShortenedParts, shortenTo, countFitting } from './answers.ts';

const record = fc.record({
  text: fc.string({ maxLength: 20_000, unit: 'grapheme' }),
  items: fc.array(fc.record({ name: fc.string(), body: fc.string({ maxLength: 4_000 }) }), { maxLength: 60 }),
  other: fc.integer(),
});

describe('an answer that is too long', () => {
  it('fits afterwards, and names what was cut', () => {
    fc.assert(
      fc.property(record, (answer) => {
        const cut = shortenTo(answer, 30_000, { continueHint: 'ask again' });
        if (jsonBytesOf(answer) <= 30_000) {
          expect(cut).toBe(answer);
          return;
        }
        expect(jsonBytesOf(cut)).toBeLessThanOrEqual(30_000);
        const { parts, how } = cut['cut'] as ShortenedParts;
        expect([parts.length > 0, how]).toEqual([true, 'ask again']);
        for (const { shown = 0, length = 0 } of parts) expect(shown).toBeLessThan(length);
        expect(cut['other']).toBe(answer.other);
      }),
      { numRuns: 50 },
    );
  });

  it('says by its path which text lost its end', () => {
    const { spec, cut } = shortenTo({ spec: { content: 'x'.repeat(50_000), note: 'short' } }, 10_000, {
      continueHint: '',
    }) as unknown as {
      spec: { content: string; note: string };
      cut: ShortenedParts;
    };
    expect(spec.note).toBe('short');
    expect(cut.parts).toEqual([{ path: 'spec.content', length: 50_000, shown: spec.content.length }]);
  });

  it('never cuts a character in two', () => {
    fc.assert(
      fc.property(fc.integer({ min: 5_000, max: 5_010 }), (length) => {
        const { text } = shortenTo({ text: '😀'.repeat(length) }, 4_000, { continueHint: '' }) as unknown as {
          text: string;
        };
        expect(text.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('a part', () => {
  it('is read on from where it was cut, to the end', () => {
    const long = fc.string({ minLength: 20_000, maxLength: 40_000, unit: 'grapheme' });
    fc.assert(
      fc.property(long, (content) => {
        const answer = { items: [{ body: content, note: 'x'.repeat(2_000) }] };
        let read = '';
        let part: string | undefined = 'items[0].body@0';
        for (let pages = 0; part !== undefined && pages < 200; pages += 1) {
          const begun = skipToPart(answer, part);
          if (begun === undefined) throw new Error(part);
          const page = shortenTo(begun.answer, 10_000, {
            continueHint: '',
            isContinuable: true,
            start: begun.start,
          });
          expect(jsonBytesOf(page)).toBeLessThanOrEqual(10_000);
          read += (page['items'] as { body: string }[])[0]?.body ?? '';
          const parts = (page['cut'] as ShortenedParts | undefined)?.parts ?? [];
          part = parts.find(({ path }) => path === 'items[0].body')?.next;
        }
        expect(read).toBe(content);
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    'spec',
    'spec.content',
    'spec.content@',
    'spec.none@0',
    'spec.content@9',
    '__proto__@0',
    'spec.version@0',
  ])('that names no place in a text is none: %s', (part) => {
    expect(skipToPart({ spec: { content: 'text', version: 3 } }, part)).toBeUndefined();
  });
});

describe('fitting', () => {
  it('counts the first items that have room, at least one', () => {
    const items = Array.from({ length: 10 }, () => 'x'.repeat(97));
    expect([
      countFitting(items, 100),
      countFitting(items, 350),
      countFitting(items, 10_000),
      countFitting(items, 1),
    ]).toEqual([1, 3, 10, 1]);
  });
});
