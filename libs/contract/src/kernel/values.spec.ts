import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type z } from 'zod';
import {
  Day,
  Id,
  Instant,
  isCleanText,
  nameText,
  multilineText,
  ProjectRef,
  StoryRef,
  boundedText,
  textWithinBytes,
  Time,
  Url,
  Version,
} from './values.ts';

const accepts = (schema: z.ZodType, value: unknown): boolean => schema.safeParse(value).success;
const uuid = '01936d5c-0000-7000-8000-00000000000a';
/** JSON values that are not strings, and undefined. */
const nonStringValues = [5, true, null, [uuid], { id: uuid }, undefined];

describe('Id', () => {
  it('takes a lower-case canonical UUID and nothing near it', () => {
    expect(accepts(Id, uuid)).toBe(true);
    const near = [
      uuid.toUpperCase(),
      uuid.replaceAll('-', ''),
      `{${uuid}}`,
      ` ${uuid}`,
      `${uuid}\n`,
      `${uuid}0`,
      uuid.slice(1),
      '',
      'g'.repeat(36),
    ];
    for (const value of [...near, ...nonStringValues]) expect(accepts(Id, value)).toBe(false);
  });

  it('takes every UUID that is written out in lower case', () => {
    fc.assert(
      fc.property(fc.uuid(), (id) => accepts(Id, id) && accepts(StoryRef, id) && accepts(ProjectRef, id)),
    );
  });
});

describe('references', () => {
  it.each(['WEB-1', 'web-42', 'A1-999999999', 'ABCDEFGHIJ-7'])('takes %s for a story', (key) => {
    expect(accepts(StoryRef, key)).toBe(true);
  });

  it.each([' WEB-1 ', 'WEB-1\n', '\tWEB-1'])('takes %j for a story with spaces around its key', (key) => {
    expect(StoryRef.parse(key)).toBe('WEB-1');
  });

  it.each([
    '#WEB-42',
    ' #WEB-42 ',
    'https://muster.example.com/s/WEB-42',
    'http://localhost:4100/console/s/WEB-42/?from=1&to=2#spec',
  ])('takes %j for the story WEB-42', (reference) => {
    expect(StoryRef.parse(reference)).toBe('WEB-42');
  });

  it.each([
    '##WEB-42',
    'muster.example.com/s/WEB-42',
    'https://muster.example.com/p/WEB',
    'https://muster.example.com/s/WEB-42/more',
    'https://muster.example.com/?at=/s/WEB-42',
    'ftp://muster.example.com/s/WEB-42',
  ])('takes %j for no story', (reference) => {
    expect(accepts(StoryRef, reference)).toBe(false);
  });

  it.each(['WEB-0', 'web-01', 'WEB-1000000000', 'WEB-9999999999999999999999'])(
    'takes %s for a story that there cannot be',
    (key) => {
      expect(StoryRef.parse(key)).toMatch(/^web-0$/i);
    },
  );

  it.each(['WEB-', '-1', 'W-1', 'WEB- 1', 'WEB–1', 'ABCDEFGHIJK-1', '1AB-1', 'WEB', uuid.toUpperCase(), ''])(
    'takes %j for no story',
    (key) => {
      expect(accepts(StoryRef, key)).toBe(false);
    },
  );

  it('tells a key of a project from what is none', () => {
    for (const key of ['WEB', 'we', 'A1', 'ABCDEFGHIJ']) expect(accepts(ProjectRef, key)).toBe(true);
    for (const key of ['W', '1A', 'ABCDEFGHIJK', 'WEB-1', 'WÉB', 'WEB\n', '', ...nonStringValues])
      expect(accepts(ProjectRef, key)).toBe(false);
  });
});

describe('text', () => {
  it('refuses NUL and lone surrogates, which would not come back as they went in', () => {
    for (const bad of ['a\0b', '\ud800', 'a\udc00b', '\udc00\ud800']) {
      expect(isCleanText(bad)).toBe(false);
      expect(accepts(boundedText(10), bad)).toBe(false);
      expect(accepts(nameText(10), bad)).toBe(false);
      expect(accepts(textWithinBytes(100), bad)).toBe(false);
    }
  });

  it('counts code points, not UTF-16 units', () => {
    expect(accepts(boundedText(3), '😀😀😀')).toBe(true);
    expect(accepts(boundedText(3), '😀😀😀😀')).toBe(false);
    expect(accepts(boundedText(2), 'ab\u0301')).toBe(false);
  });

  it('fits exactly when it has as many code points as allowed', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.integer({ min: 0, max: 30 }),
        (value, max) => {
          fc.pre(isCleanText(value));
          expect(accepts(boundedText(max), value)).toBe(Array.from(value).length <= max);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('comes out as it went in', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        fc.pre(isCleanText(value));
        expect(boundedText(10_000).parse(value)).toBe(value);
      }),
    );
  });

  it('has a line feed at the end of each line where it is prose', () => {
    expect(multilineText(10).parse('a\r\nb\rc\n')).toBe('a\nb\nc\n');
    expect(accepts(multilineText(3), 'a\r\nb')).toBe(true);
  });

  it('is clean exactly when UTF-8 brings it back and it has no NUL', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
        (value) => {
          const returns =
            new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(value)) === value;
          expect(isCleanText(value)).toBe(returns && !value.includes('\0'));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('can be bounded in bytes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 40 }),
        fc.integer({ min: 0, max: 80 }),
        (value, max) => {
          expect(accepts(textWithinBytes(max), value)).toBe(Buffer.byteLength(value) <= max);
        },
      ),
    );
  });

  it('is never made of something else', () => {
    for (const value of nonStringValues) expect(accepts(boundedText(100), value)).toBe(false);
  });
});

describe('name', () => {
  it('is brought to NFC and trimmed, so that what looks the same is the same', () => {
    expect(nameText(20).parse('  Chloe\u0301 ')).toBe('Chloé');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-composite', minLength: 1 }), (value) => {
        const parsed = nameText(1000).safeParse(value);
        fc.pre(parsed.success);
        expect(nameText(1000).parse(parsed.data)).toBe(parsed.data);
        fc.pre(!/\p{Default_Ignorable_Code_Point}/u.test(value));
        expect(parsed.data).toBe(value.normalize('NFC').trim());
      }),
    );
  });

  it.each([
    ['Ready\u200b', 'Ready'],
    ['\ufeffRe\u2060ad\u00ady\u200e', 'Ready'],
    ['Ready\u200d', 'Ready'],
    ['R\u200ceady\ufe0f', 'Ready'],
    ['Invoice \u202egpj.exe', 'Invoice gpj.exe'],
    ['\u2067Ready\u2069', 'Ready'],
  ])('loses what cannot be seen: %j', (value, kept) => {
    expect(nameText(20).parse(value)).toBe(kept);
  });

  it.each([
    '👩\u200d💻',
    '❤\ufe0f',
    '1\ufe0f\u20e3',
    '🏴\u{e0067}\u{e0062}\u{e007f}',
    'می\u200cخواهم',
    'क्\u200dष',
  ])('keeps what shapes emoji and letters: %j', (value) => {
    expect(nameText(20).parse(value)).toBe(value);
  });

  it.each([
    '',
    ' ',
    '\u00a0\u2003',
    'a\nb',
    'a\rb',
    'a\tb',
    'a\u2028b',
    'a\u2029b',
    'a\u007fb',
    'a\u001bb',
    '\u200b',
    '\u2060',
    '\u2800',
    '\u3164',
    '\u115f\u1160',
    '\uffa0',
    '\u0301',
    '\u202e',
    '\ue000',
  ])('is not %j', (value) => {
    expect(accepts(nameText(20), value)).toBe(false);
  });

  it.each(['e', '7', '…', '😀', '人', 'x\u200b', '→', '❤\ufe0f'])('is %j', (value) => {
    expect(accepts(nameText(20), value)).toBe(true);
  });

  it('fits after it was normalized', () => {
    expect(accepts(nameText(1), 'e\u0301')).toBe(true);
    expect(accepts(nameText(3), 'é😀x')).toBe(true);
    // NFC makes some texts longer: U+0958 becomes two code points. The stored text must still fit.
    expect(nameText(2).parse('\u0958')).toBe('\u0915\u093c');
    expect(accepts(nameText(1), '\u0958')).toBe(false);
  });
});

describe('Instant', () => {
  it.each([
    ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21T09:30:00.1Z', '2026-11-21T09:30:00.100Z'],
    ['2026-11-21T09:30:00.123456789Z', '2026-11-21T09:30:00.123Z'],
    ['2026-11-21T09:30:00+05:30', '2026-11-21T04:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
    ['2199-12-31T23:59:59.999Z', '2199-12-31T23:59:59.999Z'],
  ])('reads %s as %s', (given, read) => {
    expect(Instant.parse(given)).toBe(read);
    expect(accepts(Time, read)).toBe(true);
  });

  it.each([
    'tomorrow',
    'now',
    'infinity',
    '-infinity',
    'epoch',
    '',
    '2026-11-21',
    '2026-11-21 09:30:00Z',
    '2026-11-21T09:30:00',
    '2026-11-21T09:30Z',
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-11-21T24:00:01Z',
    '2026-11-21T09:60:00Z',
    '2026-11-21T09:30:61Z',
    '2200-01-01T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '1970-01-01T00:00:00+00:01',
    '+012026-11-21T09:30:00Z',
    '2026-11-21T09:30:00+25:00',
    '2026-11-21T09:30:00Z\n',
    '0000-01-01T00:00:00Z',
    '99999-01-01T00:00:00Z',
  ])('is not %j', (given) => {
    expect(accepts(Instant, given)).toBe(false);
  });

  it('keeps every moment between 1970 and 2200', () => {
    const within = fc.date({
      min: new Date(0),
      max: new Date(Date.UTC(2200, 0, 1) - 1),
      noInvalidDate: true,
    });
    fc.assert(fc.property(within, (moment) => Instant.parse(moment.toISOString()) === moment.toISOString()));
  });
});

describe('Day', () => {
  it.each(['2026-11-21', '2024-02-29', '1970-01-01', '2199-12-31'])('is %s', (day) => {
    expect(Day.parse(day)).toBe(day);
  });

  it.each([
    '2026-02-30',
    '2025-02-29',
    '2026-11-31',
    '2026-13-01',
    '2026-00-01',
    '2026-01-00',
    '2200-01-01',
    '1969-12-31',
    '2026-1-1',
    '21.11.2026',
    'today',
    '2026-11-21T00:00:00Z',
    '2026-11-21 ',
    '',
  ])('is not %j', (day) => {
    expect(accepts(Day, day)).toBe(false);
  });
});

describe('Version', () => {
  it('is a whole number that the database can hold', () => {
    for (const value of [1, 2, 2_147_483_647]) expect(accepts(Version, value)).toBe(true);
    for (const value of [0, -1, 1.5, 2_147_483_648, 2 ** 53 + 1, Infinity, NaN, '5', true, null])
      expect(accepts(Version, value)).toBe(false);
  });
});

describe('Url', () => {
  it('is http or https, and nothing that a browser would run', () => {
    for (const url of ['https://example.com', 'http://localhost:3000/x?y#z', 'HTTPS://EXAMPLE.COM'])
      expect(accepts(Url, url)).toBe(true);
    const others = [
      'javascript:alert(1)',
      'data:text/html,x',
      'ftp://example.com',
      '//example.com',
      'example.com',
      'https://',
      'https://exa mple.com',
      'https://a\0b',
      'https://a/\ud800',
      `https://e.com/${'x'.repeat(2048)}`,
      '',
    ];
    for (const url of others) expect(accepts(Url, url)).toBe(false);
  });
});
