import { describe, expect, it } from '@jest/globals';
import { pageWith, type ProofResult } from './page.ts';
import { properties } from './properties.ts';

const proofOf = (name: string, seed: number): ProofResult => {
  const property = properties.find((one) => one.name === name);
  if (property === undefined) throw new Error(`there is no ${name}`);
  const controls = property.controls.length;
  return {
    ...{ property, seed, on: new Date('2026-11-22'), holds: true },
    ...{ figures: { calls: 1_000 }, millis: 2_000, controls, red: controls },
  };
};
const rowsOf = (page: string): string[] => page.split('\n').filter((line) => / 2026-11-22 /.test(line));

describe('the page of what is proven', () => {
  const first = pageWith(proofOf('feeds', 1), '');

  it('says of a property what was tried, when and with which seed, and what was seen to fail', () => {
    expect(rowsOf(first)).toEqual(['| feeds | 1,000 calls | 1 of 1 | 2 s | 2026-11-22 | 1 |']);
    expect(first).toMatch(/^## feeds\n\n.*\n\nEach of these was seen to fail:\n\n- /m);
    expect(first.match(/^## /gm)).toHaveLength(1);
  });

  it('keeps the rows of the properties that were not tried this time, in the order of all', () => {
    const both = pageWith(proofOf('lease model', 2), first);
    expect(rowsOf(both).map((row) => row.slice(0, 9))).toEqual(['| lease m', '| feeds |']);
    expect(rowsOf(pageWith(proofOf('feeds', 3), both))[1]).toMatch(/\| 3 \|$/);
  });
});
