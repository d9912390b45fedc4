import { describe, expect, it } from '@jest/globals';
import { type Sample } from './measure.ts';
import { median, ratios, renderTable, summarize } from './report.ts';

const sample = (rate: number): Sample => ({
  ...{ rate, serverMicros: 100, postgresMicros: null, p50: 1, p99: 2, answered: 10, sent: 10 },
});
const row = (ours: number[], theirs: number[]) => ({
  ...{ name: 'stories.get', goal: 0.6, roundTrips: 1 },
  ...{ ours: ours.map(sample), theirs: theirs.map(sample) },
});

describe('the report of the bench', () => {
  it('takes the middle one, or the mean of the two in the middle', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([])]).toEqual([2, 2.5, NaN]);
  });

  it('compares the two sides of each round, not their medians', () => {
    expect(ratios(row([10, 60], [20, 100]))).toEqual([0.5, 0.6]);
    expect(summarize(row([10, 60, 50], [20, 100, 50])).ratio).toEqual({ median: 0.6, min: 0.5, max: 1 });
  });

  it('says which goals are met', () => {
    expect(summarize(row([6], [10])).met).toBe(true);
    expect(summarize(row([5.9], [10])).met).toBe(false);
    expect(summarize({ ...row([5.9], [10]), goal: null }).met).toBeNull();
    expect(renderTable([summarize(row([5.9], [10]))], 'Muster / bare')).toContain('NOT MET');
    const within = (mostP99Millis: number) =>
      renderTable([summarize({ ...row([6], [10]), mostP99Millis })], 'Muster / bare');
    expect(within(2)).toContain('2.00 / 2.00 (≤ 2 met)');
    expect(within(1)).toContain('2.00 / 2.00 (≤ 1 NOT MET)');
  });
});
