import { describe, expect, it } from '@jest/globals';
import { exceededJsonLimit, parseUntrustedJson, untrustedJsonLimits } from './untrusted-json.ts';

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('exceededJsonLimit', () => {
  it('counts brackets and commas outside of strings only', () => {
    const limits = { depth: 2, values: 3 };
    expect(exceededJsonLimit('[{"a[[[,,,\\"[": "\\\\"}]', limits)).toBeUndefined();
    expect(exceededJsonLimit('[[[', limits)).toBe('depth');
    expect(exceededJsonLimit('[1,2,3]', limits)).toBe('values');
    expect(exceededJsonLimit('"[[[[[', limits)).toBeUndefined();
  });
});

describe('parseUntrustedJson', () => {
  it('parses up to the limits and throws SyntaxError beyond them', () => {
    expect(parseUntrustedJson(nested(untrustedJsonLimits.depth))).toEqual([expect.any(Array)]);
    for (const text of [
      '{',
      nested(untrustedJsonLimits.depth + 1),
      `[${'0,'.repeat(untrustedJsonLimits.values)}0]`,
    ])
      expect(() => parseUntrustedJson(text)).toThrow(SyntaxError);
  });
});
