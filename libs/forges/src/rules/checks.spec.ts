import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type CheckWord, verdictOf } from './checks.ts';

const word = (name: string, state: CheckWord['state'], second: number): CheckWord => ({
  ...{ name, state, trust: 'verified' },
  at: `2026-11-21T09:00:0${second}.000Z`,
});

describe('the checks of a commit', () => {
  it('have passed once all have', () => {
    expect(verdictOf([])).toBeUndefined();
    expect(verdictOf([word('a', 'passed', 1), word('b', 'pending', 2)])).toBeUndefined();
    expect(verdictOf([word('a', 'passed', 1), word('b', 'passed', 2)])).toMatchObject({
      kind: 'checks_passed',
    });
  });

  it('have failed as soon as one has, until it is run again', () => {
    expect(verdictOf([word('a', 'failed', 1), word('b', 'pending', 2)])).toMatchObject({
      kind: 'checks_failed',
    });
    expect(verdictOf([word('a', 'failed', 1), word('a', 'passed', 2)])).toMatchObject({
      kind: 'checks_passed',
    });
  });

  it('are a report where any word is one', () => {
    expect(verdictOf([word('a', 'passed', 1), { ...word('b', 'passed', 1), trust: 'reported' }])?.trust).toBe(
      'reported',
    );
  });

  it('come to the same in any order of their words, and know more with each', () => {
    const one = fc
      .tuple(
        fc.constantFrom('a', 'b'),
        fc.constantFrom<CheckWord['state'][]>('pending', 'passed', 'failed'),
        fc.nat(3),
      )
      .map(([name, state, second]) => word(name, state, second));
    const words = fc.uniqueArray(one, { selector: (each) => JSON.stringify(each), maxLength: 8 });
    const orders = words.chain((all) => {
      const whole = { minLength: all.length, maxLength: all.length };
      return fc.record({ all: fc.constant(all), shuffled: fc.shuffledSubarray(all, whole) });
    });
    fc.assert(
      fc.property(orders, ({ all, shuffled }) => {
        expect(verdictOf(shuffled)).toEqual(verdictOf(all));
        expect(verdictOf(all)?.rev ?? all.length).toBe(all.length);
      }),
    );
  });
});
