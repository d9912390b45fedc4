import { describe, expect, it } from '@jest/globals';
import { pathWithinOrigin } from './forms.ts';

describe('a path of this origin', () => {
  it.each([
    '/',
    '/console/board?view=mine#top',
    '/a/../b',
    '/a//b',
    '/oauth/device?user_code=//evil.example',
  ])('leads to where it says: %j', (named) => {
    const { origin, href } = new URL(named, 'https://muster.example');
    const found = new URL(pathWithinOrigin(named, '/instead'), 'https://muster.example');
    expect(found.origin).toBe(origin);
    expect(found.href).toBe(href);
  });

  it.each([
    ...[
      'https://evil.example/',
      '//evil.example',
      String.raw`/\evil.example`,
      '/\t/evil.example',
      'board',
      '',
    ],
    ...['/.//evil.example', '/a/..//evil.example', '/%2e//evil.example', String.raw`/a/../\evil.example`],
    ...[undefined, ['/']],
  ])('is none, and leads nowhere else: %j', (named) => {
    expect(pathWithinOrigin(named, '/instead')).toBe('/instead');
  });

  it('has 2,000 characters at most', () => {
    const [longest, tooLong] = [`/${'a'.repeat(1_999)}`, `/${'a'.repeat(2_000)}`];
    expect([pathWithinOrigin(longest, '/'), pathWithinOrigin(tooLong, '/')]).toEqual([longest, '/']);
  });
});
