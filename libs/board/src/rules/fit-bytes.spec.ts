import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  jsonByteLength,
  defineSectionCut,
  fitSectionsToBytes,
  truncateText,
  dropItems,
  dropItemsAndMeasure,
  dropTexts,
} from './fit-bytes.ts';

/** Texts with all characters that JSON writes as escapes, including lone surrogates. */
const texts = fc.string({
  unit: fc.oneof(
    fc.constantFrom('"', '\\', '\n', '\u0001', '\u007f', '\u2028', 'é', '€', '😀', '\ud800', '\udc00'),
    fc.string({ minLength: 1, maxLength: 1 }),
  ),
  maxLength: 60,
});
const jsonBytes = (text: string): number => jsonByteLength(text) - 2;

describe('withoutEnd', () => {
  it('frees what it must by as little as does it, and halves no pair', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 0, max: 100 }), (text, excess) => {
        const kept = truncateText(text, excess);
        expect(text.startsWith(kept)).toBe(true);
        const freed = jsonBytes(text) - jsonBytes(kept);
        if (kept !== '') expect(freed).toBeGreaterThanOrEqual(excess);
        // Keeping one more code point would free too few bytes.
        const next = String.fromCodePoint(text.codePointAt(kept.length) ?? 0x20);
        if (kept !== text) expect(jsonBytes(text) - jsonBytes(kept + next)).toBeLessThan(excess);
        expect(text.isWellFormed() && !kept.isWellFormed()).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('withoutItems', () => {
  it('frees what it must by as few items as do it, from the end or the start', () => {
    const items = fc.array(texts, { maxLength: 12 });
    fc.assert(
      fc.property(items, fc.integer({ min: 0, max: 200 }), fc.boolean(), (list, excess, fromEnd) => {
        const dropFrom = fromEnd ? 'end' : 'start';
        const { kept, freedBytes } = dropItemsAndMeasure(list, excess, dropFrom);
        expect(dropItems(list, excess, dropFrom)).toEqual(kept);
        const gone = list.length - kept.length;
        expect(kept).toEqual(fromEnd ? list.slice(0, kept.length) : list.slice(gone));
        const freed = jsonByteLength(list) - jsonByteLength(kept);
        expect(freedBytes).toBe(freed);
        if (kept.length > 0) expect(freed).toBeGreaterThanOrEqual(excess);
        if (gone === 0) expect(excess === 0 || list.length === 0).toBe(true);
      }),
    );
  });
});

describe('withoutTexts', () => {
  it('leaves texts out from the last on, where that frees something', () => {
    const items = [{ text: 'a long one' }, { text: null }, { text: 'ab' }, { text: 'another' }];
    expect(dropTexts(items, 'text', 1)).toEqual([...items.slice(0, 3), { text: null }]);
    expect(dropTexts(items, 'text', 100)).toEqual([
      { text: null },
      { text: null },
      { text: 'ab' },
      { text: null },
    ]);
    const short = [{ text: 'ab' }, { text: null }];
    expect(dropTexts(short, 'text', 100)).toBe(short);
  });
});

interface Sections {
  readonly items: readonly string[] | null;
  readonly text: { readonly body: string } | null;
  readonly kept: string | null;
}
const cuts = [
  defineSectionCut<Sections, 'items'>('items', (items, excess) =>
    items.length === 0 ? items : dropItems(items, excess),
  ),
  defineSectionCut<Sections, 'text'>('text', (text, excess) =>
    text.body === '' ? text : { body: truncateText(text.body, excess) },
  ),
];

describe('fitBytes', () => {
  it('cuts nothing that fits, and else until it fits, in order, naming what is cut', () => {
    const sections = fc.record({
      items: fc.option(fc.array(texts, { maxLength: 8 })),
      text: fc.option(fc.record({ body: texts })),
      kept: fc.option(fc.constant('kept')),
    });
    const short = fc.subarray(['items', 'text', 'kept'] as const);
    fc.assert(
      fc.property(sections, short, fc.integer({ min: 100, max: 600 }), (whole, before, maxBytes) => {
        const { sections: fitted, truncated } = fitSectionsToBytes<Sections>(whole, before, cuts, maxBytes);
        expect(jsonByteLength({ ...fitted, truncated })).toBeLessThanOrEqual(maxBytes);
        if (jsonByteLength({ ...whole, truncated: before }) <= maxBytes) {
          expect({ fitted, truncated }).toEqual({ fitted: whole, truncated: before });
        }
        for (const name of ['items', 'text', 'kept'] as const) {
          const isNamed = truncated.includes(name);
          expect(isNamed).toBe(before.includes(name) || fitted[name] !== whole[name]);
        }
        // The text may only be shortened after all items have been removed from the list.
        if (fitted.text !== whole.text) expect(fitted.items ?? []).toEqual([]);
        expect(fitSectionsToBytes<Sections>(whole, before, cuts, maxBytes)).toEqual({
          sections: fitted,
          truncated,
        });
      }),
      { numRuns: 300 },
    );
  });

  it('says so where all the cuts are not enough', () => {
    const whole = { items: ['a'], text: { body: 'b' }, kept: 'x'.repeat(200) };
    expect(() => fitSectionsToBytes<Sections>(whole, [], cuts, 100)).toThrow('nothing is left to cut');
  });
});
