import { expect, it } from '@jest/globals';
import { requestedRange } from './byte-range.ts';

const file = { size: 10, etag: '"a"' };

it.each([
  ['bytes=0-3', { start: 0, end: 3 }],
  ['bytes=4-', { start: 4, end: 9 }],
  ['bytes=-3', { start: 7, end: 9 }],
  ['bytes=-30', { start: 0, end: 9 }],
  ['bytes=8-99', { start: 8, end: 9 }],
])('%s is a range', (range, expected) => {
  expect(requestedRange({ range }, file)).toEqual(expected);
});

it.each(['bytes=10-', 'bytes=5-4', 'bytes=-0', 'bytes=-', 'bytes=0-1,3-4', 'bytes=a-b', 'lines=0-1', ''])(
  '%j is answered with the whole file',
  (range) => {
    expect(requestedRange({ range }, file)).toBeUndefined();
  },
);

it('is only of the file that the caller knows', () => {
  expect(requestedRange({ range: 'bytes=0-1', ifRange: '"a"' }, file)).toEqual({ start: 0, end: 1 });
  expect(requestedRange({ range: 'bytes=0-1', ifRange: '"b"' }, file)).toBeUndefined();
});
