import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { deriveHandle } from './handles.ts';

const handlePattern = /^[a-z0-9][a-z0-9-]{0,38}$/;

describe('handles', () => {
  it.each([
    ['Ana', 'x@y.example', 'ana'],
    ['Chloé', 'x@y.example', 'chloe'],
    ['Ana María  Ruiz', 'x@y.example', 'ana-maria-ruiz'],
    ["Jeanne D'Arc", 'x@y.example', 'jeanne-d-arc'],
    ['Łukasz Weiß', 'x@y.example', 'lukasz-weiss'],
    ['ＡＮＡ', 'x@y.example', 'ana'],
    ['李雷', 'li.lei@y.example', 'li-lei'],
    ['李雷', '李@y.example', 'member'],
    ['--', '-@y.example', 'member'],
    ['A'.repeat(120), 'x@y.example', 'a'.repeat(32)],
  ])('makes of %j and %j the handle %j', (name, email, handle) => {
    expect(deriveHandle(name, email)).toBe(handle);
  });

  it('always fit the shape', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.oneof(fc.emailAddress(), fc.string({ unit: 'binary' })),
        (name, email) => expect(deriveHandle(name, email)).toMatch(handlePattern),
      ),
      { numRuns: 300 },
    );
  });
});
