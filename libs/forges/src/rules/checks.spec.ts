import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { childPipelineName, pipelineName, runName, statusName, suiteName } from './check-names.ts';
import { type TrustedCheckReport, combineCheckReports } from './checks.ts';

const checkReport = (
  name: string,
  state: TrustedCheckReport['state'],
  second: number,
): TrustedCheckReport => ({
  ...{ name, state, trust: 'verified' },
  at: `2026-11-21T09:00:0${second}.000Z`,
});

describe('the checks of a commit', () => {
  it('have passed once all have', () => {
    expect(combineCheckReports([])).toBeUndefined();
    expect(
      combineCheckReports([checkReport('a', 'passed', 1), checkReport('b', 'pending', 2)]),
    ).toBeUndefined();
    expect(combineCheckReports([checkReport('a', 'passed', 1), checkReport('b', 'passed', 2)])).toMatchObject(
      {
        kind: 'checks_passed',
      },
    );
  });

  it('have failed as soon as one has, until it is run again', () => {
    expect(
      combineCheckReports([checkReport('a', 'failed', 1), checkReport('b', 'pending', 2)]),
    ).toMatchObject({
      kind: 'checks_failed',
    });
    expect(combineCheckReports([checkReport('a', 'failed', 1), checkReport('a', 'passed', 2)])).toMatchObject(
      {
        kind: 'checks_passed',
      },
    );
  });

  const run = (number: number, event = 'push', suite?: number) =>
    runName({ workflow: 'ci', event, number, suite });
  it.each<[string, TrustedCheckReport[]]>([
    [
      'two suites of one app',
      [checkReport(suiteName(1, 11), 'failed', 1), checkReport(suiteName(1, 12), 'passed', 2)],
    ],
    [
      'suites of deleted apps',
      [checkReport(suiteName(null, 1), 'failed', 1), checkReport(suiteName(null, 2), 'passed', 2)],
    ],
    [
      'runs for two events',
      [checkReport(run(1), 'failed', 1), checkReport(run(2, 'pull_request'), 'passed', 2)],
    ],
    ['the newer run of two', [checkReport(run(2), 'failed', 1), checkReport(run(1), 'passed', 2)]],
    [
      'two children of a pipeline',
      [checkReport(childPipelineName(1, 2), 'failed', 1), checkReport(childPipelineName(1, 3), 'passed', 2)],
    ],
    [
      'pipelines of two series',
      [checkReport(pipelineName(1, 'a'), 'failed', 1), checkReport(pipelineName(2, 'b'), 'passed', 2)],
    ],
    ['statuses', [checkReport(statusName('a'), 'failed', 1), checkReport(statusName('b'), 'passed', 2)]],
    [
      'a child that passed before another one and their parent',
      [
        checkReport(childPipelineName(1, 2), 'failed', 3),
        checkReport(childPipelineName(1, 3), 'passed', 2),
        checkReport(pipelineName(1, 'a'), 'passed', 4),
      ],
    ],
    [
      'a child whose parent has not passed again',
      [
        checkReport(childPipelineName(1, 2), 'failed', 2),
        checkReport(childPipelineName(1, 3), 'passed', 3),
        checkReport(pipelineName(1, 'a'), 'passed', 1),
      ],
    ],
    [
      'a former name alone',
      [checkReport('suite:1', 'failed', 1), checkReport(suiteName(2, 11), 'passed', 2)],
    ],
    [
      'a run whose suite passed',
      [checkReport(suiteName(1, 7), 'passed', 2), checkReport(run(1, 'push', 7), 'failed', 1)],
    ],
  ])('have failed while one that is not replaced has: %s', (_which, words) => {
    expect(combineCheckReports(words)).toMatchObject({ kind: 'checks_failed' });
  });

  it.each<[string, TrustedCheckReport[]]>([
    ['the same run again', [checkReport(run(1), 'failed', 1), checkReport(run(1), 'passed', 2)]],
    [
      'the same suite again',
      [checkReport(suiteName(1, 11), 'failed', 1), checkReport(suiteName(1, 11), 'passed', 2)],
    ],
    ['a newer run', [checkReport(run(9), 'failed', 3), checkReport(run(10), 'passed', 2)]],
    [
      'a newer pipeline',
      [checkReport(pipelineName(9, 'a'), 'failed', 3), checkReport(pipelineName(10, 'a'), 'passed', 2)],
    ],
    [
      'a newer parent pipeline',
      [
        checkReport(pipelineName(1, 'a'), 'passed', 1),
        checkReport(childPipelineName(1, 2), 'failed', 3),
        checkReport(pipelineName(3, 'a'), 'passed', 2),
      ],
    ],
    [
      'a child that was made again',
      [
        checkReport(childPipelineName(1, 2), 'failed', 1),
        checkReport(childPipelineName(1, 3), 'passed', 2),
        checkReport(pipelineName(1, 'a'), 'passed', 3),
      ],
    ],
    [
      'the suite of a former name',
      [checkReport('suite:1', 'failed', 1), checkReport(suiteName(1, 11), 'passed', 2)],
    ],
    [
      'the run of a former name',
      [checkReport('workflow:ci', 'failed', 1), checkReport(run(7, 'push', 2), 'passed', 2)],
    ],
    [
      'the pipeline of a former name',
      [checkReport('pipeline:push', 'failed', 1), checkReport(pipelineName(7, 'push:topic'), 'passed', 2)],
    ],
    [
      'the run of a suite',
      [checkReport(suiteName(1, 7), 'failed', 1), checkReport(run(1, 'push', 7), 'passed', 2)],
    ],
  ])('have passed by %s', (_which, words) => {
    expect(combineCheckReports(words)).toMatchObject({ kind: 'checks_passed' });
  });

  it('are a report where any word is one', () => {
    expect(
      combineCheckReports([
        checkReport('a', 'passed', 1),
        { ...checkReport('b', 'passed', 1), trust: 'reported' },
      ])?.trust,
    ).toBe('reported');
  });

  it('come to the same in any order of their words, and know more with each', () => {
    const one = fc
      .tuple(
        fc.constantFrom('a', 'b'),
        fc.constantFrom<TrustedCheckReport['state'][]>('pending', 'passed', 'failed'),
        fc.nat(3),
      )
      .map(([name, state, second]) => checkReport(name, state, second));
    const words = fc.uniqueArray(one, { selector: (each) => JSON.stringify(each), maxLength: 8 });
    const orders = words.chain((all) => {
      const whole = { minLength: all.length, maxLength: all.length };
      return fc.record({ all: fc.constant(all), shuffled: fc.shuffledSubarray(all, whole) });
    });
    fc.assert(
      fc.property(orders, ({ all, shuffled }) => {
        expect(combineCheckReports(shuffled)).toEqual(combineCheckReports(all));
        expect(combineCheckReports(all)?.reportCount ?? all.length).toBe(all.length);
      }),
    );
  });
});
