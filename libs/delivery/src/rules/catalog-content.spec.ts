import { describe, expect, it } from '@jest/globals';
import { maxContentBytes } from '@muster/contract';
import fc from 'fast-check';
import { decodeContent, encodeContent } from './catalog-content.ts';

describe('content', () => {
  it('comes out as it went in, in either encoding', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = Buffer.from(bytes).toString('base64');
        expect(decodeContent(text, 'base64')).toEqual({ bytes: Buffer.from(bytes) });
        expect(encodeContent(Buffer.from(bytes), 'base64')).toBe(text);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const decoded = decodeContent(text, 'utf8');
        expect('bytes' in decoded && encodeContent(decoded.bytes, 'utf8')).toBe(text);
      }),
    );
  });

  it.each([
    'a',
    'QQ',
    'QQ=',
    'QQ===',
    'QR==',
    'Q Q=',
    'QUJD\n',
    'QUJ_',
    'QUJ-',
    '====',
    'QUJDRA',
    'é',
    '%%%%',
  ])('that is no strict base64 is refused: %j', (text) => {
    expect(decodeContent(text, 'base64')).toEqual({ problem: 'must be base64' });
  });

  it('is bounded after decoding', () => {
    const most = Buffer.alloc(maxContentBytes, 1);
    const more = Buffer.alloc(maxContentBytes + 1, 1);
    const decoded = decodeContent(most.toString('base64'), 'base64');
    expect('bytes' in decoded && decoded.bytes.equals(most)).toBe(true);
    for (const encoding of ['base64', 'utf8'] as const)
      expect(decodeContent(more.toString(encoding), encoding)).toEqual({
        problem: 'must be at most 4194304 bytes after decoding',
      });
    // The limit counts bytes, not characters.
    expect(decodeContent('é'.repeat(maxContentBytes / 2 + 1), 'utf8')).toHaveProperty('problem');
  });
});
