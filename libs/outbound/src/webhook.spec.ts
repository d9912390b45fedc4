import { expect, it } from '@jest/globals';
import { parseRetryAfter } from './webhook.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

it.each([
  [429, '25', 25],
  [503, 'Thu, 01 Jan 2026 00:01:00 GMT', 60],
  [503, 'Wed, 31 Dec 2025 00:00:00 GMT', 0],
  [429, '999999999', 86_400],
  [429, 'soon', null],
  [429, undefined, null],
  [500, '25', null],
  [200, '25', null],
])('reads Retry-After of an answer %s: %s', (status, header, seconds) => {
  expect(parseRetryAfter(status, header, now)).toBe(seconds);
});
