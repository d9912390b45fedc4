import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { deepest, isJsonContentType, parseJsonBody } from './json-body.ts';

const parse = (text: string): unknown => parseJsonBody(Buffer.from(text));

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

  it('keeps a surrogate pair that was escaped', () => {
    expect(parse('"\\ud83d\\ude00"')).toBe('😀');
  });

  it('counts brackets outside of texts only', () => {
    expect(parse(`"${'['.repeat(100)}"`)).toBe('['.repeat(100));
    expect(parse(`"\\"${'['.repeat(100)}"`)).toBe(`"${'['.repeat(100)}`);
    expect(parse('['.repeat(deepest) + ']'.repeat(deepest))).toBeInstanceOf(Array);
    expect(() => parse('['.repeat(deepest + 1) + ']'.repeat(deepest + 1))).toThrow('nests deeper');
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
