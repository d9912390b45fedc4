// Tests that the pattern which the pages give to secret scanners matches the tokens that Muster creates.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { isWellFormedToken, newTokenSecret } from '@muster/runtime';

const root = path.resolve(import.meta.dirname, '../../..');

/** Returns the single line of the page that is the pattern. */
function patternIn(page: string): string {
  const lines = readFileSync(path.join(root, page), 'utf8').match(/^must_\S+$/gm) ?? [];
  expect(lines).toHaveLength(1);
  return lines[0] ?? '';
}

describe('the pattern of secrets', () => {
  const pattern = patternIn('docs/guides/tokens-and-access.md');
  const finds = new RegExp(pattern, 'g');

  it('is one and the same in the guide and in SECURITY.md', () => {
    expect(patternIn('SECURITY.md')).toBe(pattern);
  });

  it('finds each token, whole, wherever it stands', () => {
    for (let count = 0; count < 200; count += 1) {
      const secret = newTokenSecret(count % 2 === 0 ? 'live' : 'test');
      const leak = `curl -H "Authorization: Bearer ${secret}" # MUSTER_TOKEN='${secret}'; {"token":"${secret}"}`;
      expect(leak.match(finds)).toEqual([secret, secret, secret]);
      expect(isWellFormedToken(secret)).toBe(true);
    }
  });

  it.each([
    'must_live_…',
    'must_live_',
    `must_prod_${'a'.repeat(38)}`,
    `must_live_${'a'.repeat(37)}`,
    // The masked form of a token that lists show.
    `${newTokenSecret().slice(0, 14)}…${newTokenSecret().slice(-4)}`,
  ])('does not find %s', (text) => {
    expect(text).not.toMatch(finds);
  });
});
