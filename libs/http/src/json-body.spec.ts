import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  maxJsonDepth,
  isJsonContentType,
  type ValueLimits,
  parseJsonBody,
  defaultValueLimits,
} from './json-body.ts';

const parse = (text: string, mostValues?: ValueLimits): unknown =>
  parseJsonBody(Buffer.from(text), mostValues);

describe('parseJsonBody', () => {
  it('reads whatever JSON writes, as long as it is no deeper than allowed', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        expect(parse(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('takes an empty body as none', () => {
    expect(parse('')).toBeUndefined();
  });

  it.each([
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['NUL by escape', Buffer.from('"\\u0000"')],
    ['NUL in a key', Buffer.from('{"\\u0000": 1}')],
    ['a lone surrogate by escape', Buffer.from('["\\uD800"]')],
    ['text after the value', Buffer.from('{} {}')],
    ['a trailing comma', Buffer.from('[1,]')],
  ])('refuses %s with 400', (_title, bytes) => {
    expect(() => parseJsonBody(bytes)).toThrow(
      expect.objectContaining({ code: 'bad_request', details: { reason: 'invalid_json', retryable: false } }),
    );
  });

  it('refuses values by the million, which would take many times the memory of the body', () => {
    const { usual } = defaultValueLimits;
    const some = `[${'[],'.repeat(usual / 2 - 1)}[]]`;
    expect(() => parse(some)).toThrow(
      expect.objectContaining({
        ...{ code: 'payload_too_large', message: 'The body has more than 500000 values.' },
        details: { reason: 'too_many_values', retryable: false },
      }),
    );
    expect(parse(`["${'[],'.repeat(usual)}"]`)).toHaveLength(1);
  });

  it.each([
    ['[[],[],[]]', 4],
    ['{"a":1,"b":[1,2]}', 4],
    ['["a,[{","\\",[",{}]', 4],
    ['["a\\\\",1]', 3],
  ])('counts the values of %s: never fewer than there are, and no more than two for each', (text, values) => {
    const isTaken = (most: number): boolean => {
      try {
        parse(text, { usual: most, large: 0 });
        return true;
      } catch {
        return false;
      }
    };
    expect([isTaken(values - 1), isTaken(2 * values)]).toEqual([false, true]);
  });

  it('lets a body of more than 256 KiB have more values', () => {
    const most: ValueLimits = { usual: 2, large: 4 };
    expect(parse(`["${'x'.repeat(262_144)}",2]`, most)).toHaveLength(2);
    expect(() => parse('["x",2]', most)).toThrow('more than 2 values');
  });

  it('refuses a text that ends within a word', () => {
    expect(() => parse('["abc\\')).toThrow('not valid JSON');
  });

  it('keeps a surrogate pair that was escaped', () => {
    expect(parse('"\\ud83d\\ude00"')).toBe('😀');
  });

  it('counts brackets outside of texts only', () => {
    expect(parse(`"${'['.repeat(100)}"`)).toBe('['.repeat(100));
    expect(parse(`"\\"${'['.repeat(100)}"`)).toBe(`"${'['.repeat(100)}`);
    expect(parse('['.repeat(maxJsonDepth) + ']'.repeat(maxJsonDepth))).toBeInstanceOf(Array);
    expect(() => parse('['.repeat(maxJsonDepth + 1) + ']'.repeat(maxJsonDepth + 1))).toThrow(
      'nested more than',
    );
  });
});

describe('isJsonContentType', () => {
  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    'takes %s',
    (type) => {
      expect(isJsonContentType(type)).toBe(true);
    },
  );

  it.each([
    '',
    'text/json',
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
    'application/jsonp',
    'application/json; boundary=x',
  ])('refuses %j', (type) => {
    expect(isJsonContentType(type)).toBe(false);
  });
});
