import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  applyReportedCode,
  applyForgeHead,
  type CodeUnderReview,
  noReportedCode,
  type ForgeHeadFact,
} from './code.ts';

const timeAtMinute = (minute: number) => `2026-11-21T09:${String(minute).padStart(2, '0')}:00.000Z`;
const sha = fc.constantFrom('aaaaaaaa', 'bbbbbbbb', 'cccccccc');
const fact = fc
  .record({ sha: fc.option(sha, { nil: null }), minute: fc.nat(9), dedupeKey: fc.constantFrom('x', 'y') })
  .map(({ minute, ...seen }): ForgeHeadFact => ({ ...seen, at: timeAtMinute(minute) }));
const shaOf = (letter: string): string => letter.repeat(40);
const head = (letter: string, minute: number, before?: string): ForgeHeadFact => ({
  ...{ sha: shaOf(letter), at: timeAtMinute(minute), dedupeKey: `${letter}-${minute}` },
  ...(before !== undefined && { before: shaOf(before) }),
});
const diffHash = fc.option(fc.constantFrom('d1', 'd2'), { nil: null });
const reportedCodeArbitrary = fc.record(
  { headSha: fc.option(sha, { nil: null }), diffHash },
  { requiredKeys: [] },
);
const codeUpdateArbitrary = fc.oneof(
  fact.map((seen) => (code: CodeUnderReview) => applyForgeHead(code, seen)),
  reportedCodeArbitrary.map(
    (what) => (code: CodeUnderReview) => applyReportedCode(code, what, timeAtMinute(5)),
  ),
);

describe('the code under review', () => {
  it('has a number that never falls, and rises exactly when it cannot be told to be the same code', () => {
    fc.assert(
      fc.property(fc.array(codeUpdateArbitrary, { maxLength: 12 }), (all) => {
        let code = noReportedCode;
        for (const happen of all) {
          const after = happen(code);
          expect(after.seq - code.seq).toBeGreaterThanOrEqual(0);
          const isOtherHead = after.headSha !== code.headSha;
          const isSameDiff = after.diffHash !== null && after.diffHash === code.diffHash;
          if (isOtherHead && !isSameDiff) expect(after.seq).toBe(code.seq + 1);
          if (code.diffHash !== null && after.diffHash !== code.diffHash)
            expect(after.seq).toBe(code.seq + 1);
          code = after;
        }
      }),
    );
  });

  it('is what the newest fact of the forge says, in whatever order they come', () => {
    const facts = fc.uniqueArray(
      fact.filter((one) => one.sha !== null),
      { minLength: 1, maxLength: 6, selector: ({ at: time }) => time },
    );
    fc.assert(
      fc.property(facts, (all) => {
        const newest = all.toSorted((one, other) => (one.at < other.at ? -1 : 1));
        expect(all.reduce(applyForgeHead, noReportedCode).headSha).toBe(newest.at(-1)?.sha);
      }),
    );
  });

  it('is what arrived last of several heads of one time that nothing connects', () => {
    for (const order of [
      ['a', 'b', 'c'],
      ['c', 'b', 'a'],
    ]) {
      const seen = order.map((letter): ForgeHeadFact => head(letter, 1));
      expect(seen.reduce(applyForgeHead, noReportedCode).headSha).toBe(shaOf(order.at(-1) ?? ''));
    }
  });

  it('follows the history of pushes, whatever the clock says and in whatever order they come', () => {
    const minutes = fc.array(fc.nat(9), { minLength: 4, maxLength: 4 });
    const pushes = ['a', 'b', 'c', 'd'].map((letter, index) => head(letter, index, 'zabc'[index]));
    fc.assert(
      fc.property(fc.shuffledSubarray(pushes, { minLength: 4 }), minutes, (arrivals, times) => {
        const seen = arrivals.map((one, index): ForgeHeadFact => ({
          ...one,
          at: timeAtMinute(times[index] ?? 0),
        }));
        const together = seen.map((one): ForgeHeadFact => ({ ...one, at: timeAtMinute(1) }));
        expect(together.reduce(applyForgeHead, noReportedCode).headSha).toBe(shaOf('d'));
        const inOrder = pushes.map((one, index): ForgeHeadFact => ({
          ...one,
          at: timeAtMinute(times[index] ?? 0),
        }));
        expect(inOrder.reduce(applyForgeHead, noReportedCode).headSha).toBe(shaOf('d'));
        expect(seen.reduce(applyForgeHead, noReportedCode).headSha).not.toBeNull();
      }),
    );
  });

  it('goes back with a push that goes back', () => {
    const seen = [head('a', 1), head('b', 2, 'a'), head('a', 3, 'b')];
    expect(seen.reduce(applyForgeHead, noReportedCode).headSha).toBe(shaOf('a'));
    const late = [head('a', 1), head('a', 3, 'b'), head('b', 2, 'a')];
    expect(late.reduce(applyForgeHead, noReportedCode).headSha).toBe(shaOf('a'));
  });

  it('is other code with a second head of the same time, so that verdicts of the first are stale', () => {
    const first = applyForgeHead(noReportedCode, head('f', 1));
    expect(applyForgeHead(first, head('a', 1)).seq).toBe(first.seq + 1);
  });

  it('keeps the longer of two spellings of a commit', () => {
    const short = applyReportedCode(noReportedCode, { headSha: 'aaaaaaa' }, timeAtMinute(1));
    const long = applyForgeHead(short, { sha: 'aaaaaaa111', at: timeAtMinute(2), dedupeKey: 'x' });
    expect([long.seq, long.headSha]).toEqual([1, 'aaaaaaa111']);
    expect(applyReportedCode(long, { headSha: 'aaaaaaa' }, timeAtMinute(3))).toEqual(long);
    expect(applyReportedCode(long, { headSha: 'aaaaaaa222' }, timeAtMinute(3)).seq).toBe(2);
  });
});
