import { expect, it } from '@jest/globals';
import { splitIntoPortions, estimateBytes } from './portions.ts';

const lengthsOf = (sizes: readonly number[]) =>
  splitIntoPortions(sizes, (size) => size).map(({ length }) => length);

it('portions have limited length and bytes, keep the order, and none is empty', () => {
  expect(lengthsOf([])).toEqual([]);
  expect(lengthsOf(Array.from({ length: 201 }, () => 1))).toEqual([100, 100, 1]);
  expect(lengthsOf([100_000, 31_072, 1])).toEqual([2, 1]);
  expect(lengthsOf([1, 500_000, 1])).toEqual([1, 1, 1]);
  const items = Array.from({ length: 250 }, (_, n) => n);
  expect(splitIntoPortions(items, () => 1).flat()).toEqual(items);
});

it('the size of a parameter counts texts, also those in lists', () => {
  expect(estimateBytes('abc')).toBe(3);
  expect(estimateBytes(Buffer.alloc(5))).toBe(5);
  expect(estimateBytes([['abc', 'de'], 1, null])).toBe(21);
});
