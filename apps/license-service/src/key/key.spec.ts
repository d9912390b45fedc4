import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { keyAlphabet } from './alphabet.ts';
import { hashKey, keyHintOf, type FormattedKey, generateKey, parseKey } from './key.ts';

const keys = Array.from({ length: 12 }, generateKey);
const withoutDashes = (key: string): string => key.replaceAll('-', '');

describe('a new key', () => {
  it('has the prefix and five groups, and reads as itself', () => {
    for (const key of keys) {
      expect(key).toMatch(/^MSTR1(-[0-9A-HJKMNP-TV-Z]{5}){5}$/);
      expect(parseKey(key)).toEqual({ kind: 'key', key });
    }
  });

  it('is never the same again, and every symbol comes in every place but the prefix', () => {
    const many = Array.from({ length: 3_000 }, generateKey);
    expect(new Set(many).size).toBe(many.length);
    for (let place = 5; place < 30; place += 1) {
      expect(new Set(many.map((key) => withoutDashes(key)[place])).size).toBe(32);
    }
  });
});

describe('a key as people write it', () => {
  const key = keys[0] ?? generateKey();
  const variants: [string, string][] = [
    ['in small letters', key.toLowerCase()],
    ['with quotes', `“${key}”`],
    ['with brackets and a stop', `(${key}).`],
    ['as code', `\`${key}\``],
    ['within a line', `Your license key: ${key}, valid for ten machines.`],
    ['within a line, with no-break hyphens', `License key: ${key.replaceAll('-', '\u2011')}`],
    ['within a line, with en dashes', `License key: ${key.replaceAll('-', '–')}.`],
    ['within a line, with soft hyphens', `License key: ${key.replaceAll('-', '\u00ad-')}.`],
    ['within a line, with spaces', `Hello, these words: ${key.replaceAll('-', ' ')} (Acme)`],
    ['within a line, behind words of five letters', `Hello valid ${key.replaceAll('-', ' ')}`],
    ['within a line, without dashes', `License key: ${withoutDashes(key)}`],
    ['without dashes', withoutDashes(key)],
    ['without its prefix', key.slice(6)],
    ['without prefix and dashes, small', withoutDashes(key.slice(6)).toLowerCase()],
    ['with spaces for dashes, about it, and a line end', `  ${key.replaceAll('-', ' ')}\r\n`],
    ['with no-break spaces', key.replaceAll('-', '\u00a0')],
    ['with en dashes', key.replaceAll('-', '–')],
    ['with em dashes', key.replaceAll('-', '—')],
    ['with no-break hyphens', key.replaceAll('-', '\u2011')],
    ['with minus signs', key.replaceAll('-', '\u2212')],
    ['with soft hyphens', key.replaceAll('-', '\u00ad')],
    ['with invisible format characters', `\u202a${key.replaceAll('-', '\u2060-\u200e')}\u202c\ufe0f`],
    ['with letters for digits', key.replaceAll('0', 'O').replaceAll('1', 'l')],
    ['with other letters for digits', key.replaceAll('0', 'o').replaceAll('1', 'I')],
  ];
  it.each(variants)('is read %s', (_how, text) => {
    expect(parseKey(text)).toEqual({ kind: 'key', key });
  });

  // Each of these characters becomes the ASCII letter beside it by toUpperCase, toLowerCase or NFKC.
  it.each([
    ['ſ', 'S'],
    ['ı', '1'],
    ['\u212a', 'K'],
    ['Ｍ', 'M'],
    ['１', '1'],
    ['ₛ', 'S'],
    ['𝐒', 'S'],
    ['М', 'M'],
  ])('is not read with %s for %s', (other, symbol) => {
    expect(parseKey(keyWith(symbol).replace(symbol, other)).kind).not.toBe('key');
  });
});

function keyWith(symbol: string): FormattedKey {
  for (;;) {
    const key = generateKey();
    if (key.includes(symbol)) return key;
  }
}

/** Replaces the symbol of a key at a place that is counted without dashes. */
const withSymbolAt = (key: FormattedKey, place: number, symbol: string): string => {
  const symbols = Array.from(withoutDashes(key));
  symbols[place] = symbol;
  return symbols.join('');
};

describe('a typo', () => {
  it('is located, with what belongs there: each place, each wrong symbol', () => {
    for (const key of keys) {
      for (let place = 0; place < 30; place += 1) {
        const right = withoutDashes(key)[place];
        for (const symbol of keyAlphabet) {
          if (symbol === right) continue;
          expect(parseKey(withSymbolAt(key, place, symbol))).toEqual({
            kind: 'typo',
            position: place + 1,
            typedPosition: place + 1,
            perhaps: right,
          });
        }
      }
    }
  });

  it('is located in a key without prefix, and for characters that are no symbols', () => {
    for (const key of keys) {
      for (let place = 5; place < 30; place += 1) {
        for (const wrong of ['U', 'u', '!', 'ſ', '😀']) {
          const typo = { kind: 'typo', position: place + 1, perhaps: withoutDashes(key)[place] };
          expect(parseKey(withSymbolAt(key, place, wrong))).toEqual({ ...typo, typedPosition: place + 1 });
          expect(parseKey(withSymbolAt(key, place, wrong).slice(5))).toEqual({
            ...typo,
            typedPosition: place - 4,
          });
        }
      }
    }
  });
});

it('catches every swap of neighbours', () => {
  for (const key of keys) {
    const symbols = Array.from(withoutDashes(key));
    for (let place = 0; place < 29; place += 1) {
      const [one = '', other = ''] = symbols.slice(place, place + 2);
      if (one === other) continue;
      const swapped = symbols
        .with(place, other)
        .with(place + 1, one)
        .join('');
      expect(parseKey(swapped).kind).not.toBe('key');
    }
  }
});

it('catches any two wrong symbols', () => {
  const place = fc.nat(29);
  const symbol = fc.constantFrom(...Array.from(keyAlphabet));
  fc.assert(
    fc.property(fc.constantFrom(...keys), place, symbol, place, symbol, (key, a, one, b, other) => {
      const typed = Array.from(withSymbolAt(key, a, one))
        .with(b, other)
        .join('');
      return typed === withoutDashes(key) || parseKey(typed).kind !== 'key';
    }),
    { numRuns: 5_000 },
  );
});

it('takes nothing else for a key, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => parseKey(text).kind === 'none'),
    { numRuns: 1_000 },
  );
  for (const text of ['', '-', 'MSTR1', 'MSTR1-'.repeat(10), '0'.repeat(31), 'A'.repeat(100_000)]) {
    expect(parseKey(text).kind).toBe('none');
  }
  // This text has valid check symbols. Its prefix belongs to no known product.
  expect(parseKey('0'.repeat(30)).kind).toBe('none');
});

it('is stored as the SHA-256 of the one form, and a hint', () => {
  const key = keys[1] ?? generateKey();
  expect(hashKey(key)).toHaveLength(32);
  expect(keyHintOf(key)).toBe(withoutDashes(key).slice(26));
  const again = parseKey(` ${key.toLowerCase()} `);
  expect(again.kind === 'key' && hashKey(again.key).equals(hashKey(key))).toBe(true);
});
