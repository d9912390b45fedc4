import { describe, expect, it } from '@jest/globals';
import {
  applyReportedCode,
  type CodeUnderReview,
  isDifferentCode,
  noReportedCode,
  verdicts,
} from '@muster/contract';
import fc from 'fast-check';
import {
  type AuthorIds,
  countFreshVerdicts,
  type ReviewWithGiverStatus,
  type VerdictGiver,
  isReviewStale,
  type ReviewableContent,
  resolveReviewedContent,
  findRulesViolatedByVerdict,
} from './reviews.ts';

// The generators have few values, so that equal values are frequent. One commit also appears in its short
// form.
const headSha = fc.constantFrom('aaaaaaaa11', 'aaaaaaa', 'bbbbbbbb22');
const diffHash = fc.constantFrom('d1', 'd2');
const nullable = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
const specVersion = fc.integer({ min: 0, max: 2 });
const reviewedVersionArbitrary = fc.record({ specVersion, headSha, diffHash }, { requiredKeys: [] });
const codeSeq = fc.integer({ min: 0, max: 2 });
const code = fc
  .record({ seq: codeSeq, headSha: nullable(headSha), diffHash: nullable(diffHash) })
  .map((known): CodeUnderReview => ({ ...noReportedCode, ...known }));
const contentArbitrary = fc.record<ReviewableContent>({ specVersion, code });
const verdict = fc.constantFrom(...verdicts);
const decisiveVerdictArbitrary = fc.constantFrom('approved', 'changes_requested');
const review = fc.record<ReviewWithGiverStatus>({
  verdict,
  isActive: fc.boolean(),
  specVersion: nullable(specVersion),
  codeSeq: nullable(codeSeq),
  headSha: nullable(headSha),
  diffHash: nullable(diffHash),
});
const at = '2026-11-21T09:30:00.000Z';

const story = (is: Partial<CodeUnderReview> = {}, version = 1): ReviewableContent => ({
  specVersion: version,
  code: { ...noReportedCode, ...is },
});
const given = (
  is: ReviewableContent,
  what: Parameters<typeof resolveReviewedContent>[0] = {},
): ReviewWithGiverStatus => ({
  verdict: 'approved',
  isActive: true,
  ...resolveReviewedContent(what, is, at).reviewed,
});

describe('a verdict', () => {
  it('is stale once the spec has another version', () => {
    expect(isReviewStale(given(story()), story())).toBe(false);
    expect(isReviewStale(given(story()), story({}, 2))).toBe(true);
  });

  it('is stale once other code is under review, and stays so when the old code comes back', () => {
    const first = story({ seq: 1, headSha: 'aaaaaaaa', diffHash: 'd1' });
    const approval = given(first);
    const moved = {
      ...first,
      code: applyReportedCode(first.code, { headSha: 'bbbbbbbb', diffHash: 'd2' }, at),
    };
    expect([isReviewStale(approval, first), isReviewStale(approval, moved)]).toEqual([false, true]);
    const back = {
      ...first,
      code: applyReportedCode(moved.code, { headSha: 'aaaaaaaa', diffHash: 'd1' }, at),
    };
    expect(isReviewStale(approval, back)).toBe(true);
  });

  it('is stale once who gave it is gone', () => {
    for (const verdict of ['approved', 'changes_requested'] as const)
      expect(isReviewStale({ ...given(story()), verdict, isActive: false }, story())).toBe(true);
  });

  it('is never stale where nothing was decided', () => {
    fc.assert(
      fc.property(review, contentArbitrary, (one, is) => {
        fc.pre(one.verdict === 'pending' || one.verdict === 'commented');
        return !isReviewStale(one, is);
      }),
    );
  });

  it('is fresh when it is given on what there is, and stays so while nothing moves', () => {
    fc.assert(
      fc.property(
        decisiveVerdictArbitrary,
        contentArbitrary,
        (said, is) =>
          !isReviewStale(
            { verdict: said, isActive: true, ...resolveReviewedContent({}, is, at).reviewed },
            is,
          ),
      ),
    );
  });
});

describe('what was reviewed', () => {
  it('is what there is, where nothing is named', () => {
    const is = story({ seq: 1, headSha: 'aaaaaaaa', diffHash: 'd1' });
    const all = { specVersion: 1, codeSeq: 1, headSha: 'aaaaaaaa', diffHash: 'd1' };
    expect(resolveReviewedContent({}, is, at)).toEqual({ reviewed: all, code: is.code });
    expect(given(is, { headSha: 'aaaaaaa' })).toMatchObject({ ...all, headSha: 'aaaaaaa' });
    expect(given(is, { diffHash: 'd1' })).toMatchObject(all);
  });

  it('takes nothing over from other code than the one that is named, and is stale at once', () => {
    const is = story({ seq: 1, headSha: 'bbbbbbbb', diffHash: 'd1' });
    expect(given(is, { headSha: 'aaaaaaaa' })).toMatchObject({ headSha: 'aaaaaaaa', diffHash: null });
    expect(given(is, { diffHash: 'd2' })).toMatchObject({ headSha: null, diffHash: 'd2' });
    for (const what of [{ headSha: 'aaaaaaaa' }, { diffHash: 'd2' }, { specVersion: 0 }])
      expect(isReviewStale(given(is, what), is)).toBe(true);
  });

  it('is under review from then on, where nobody told of any code before', () => {
    const { reviewed: about, code: after } = resolveReviewedContent({ headSha: 'aaaaaaaa' }, story(), at);
    expect([about.codeSeq, after.seq, after.headSha]).toEqual([1, 1, 'aaaaaaaa']);
    expect(applyReportedCode(after, { headSha: 'aaaaaaaa11' }, at).seq).toBe(1);
    expect(applyReportedCode(after, { headSha: 'bbbbbbbb' }, at).seq).toBe(2);
  });

  it('is stale at once exactly where what is named is known to be something else', () => {
    fc.assert(
      fc.property(decisiveVerdictArbitrary, reviewedVersionArbitrary, contentArbitrary, (said, part, is) => {
        const { reviewed: about, code: after } = resolveReviewedContent(part, is, at);
        const isOther = isDifferentCode(
          { headSha: part.headSha ?? null, diffHash: part.diffHash ?? null },
          is.code,
        );
        const isOtherSpec = part.specVersion !== undefined && part.specVersion !== is.specVersion;
        const one = { verdict: said, isActive: true, ...about };
        expect(isReviewStale(one, { ...is, code: after })).toBe(isOther || isOtherSpec);
        // The review keeps every value that the reviewer stated: commit, diff and spec version.
        expect(about).toMatchObject(part);
      }),
    );
  });
});

const giver = fc.record<VerdictGiver>({
  memberId: fc.constant(null),
  agentId: fc.constantFrom(null, 'robo', 'max'),
  actingMemberId: fc.constantFrom('ana', 'ben'),
  isActive: fc.boolean(),
});
const authors = fc.subarray(['ana', 'ben']).map((ids): AuthorIds => new Set(ids));
const policy = fc.record({ agentsMayReview: fc.boolean(), authorMayApprove: fc.boolean() });
const strictPolicy = { agentsMayReview: false, authorMayApprove: false };
const loosePolicy = { agentsMayReview: true, authorMayApprove: true };

describe('the policy', () => {
  const ana = { agentId: null, actingMemberId: 'ana' };
  const robo = { agentId: 'robo', actingMemberId: 'ana' };
  const max = { agentId: 'max', actingMemberId: 'ana' };
  const anas: AuthorIds = new Set(['ana']);
  const none: AuthorIds = new Set();

  it('keeps agents from reviewing where they may not, whatever they say', () => {
    for (const said of ['approved', 'changes_requested', 'commented'] as const) {
      expect(
        findRulesViolatedByVerdict(said, robo, none, { ...loosePolicy, agentsMayReview: false }),
      ).toEqual([{ gate: 'agentsMayReview' }]);
      expect(findRulesViolatedByVerdict(said, ana, none, { ...loosePolicy, agentsMayReview: false })).toEqual(
        [],
      );
    }
  });

  it('keeps authors and all their agents from approving, and from nothing else', () => {
    const policyOfAuthors = { ...loosePolicy, authorMayApprove: false };
    for (const author of [ana, robo, max]) {
      expect(findRulesViolatedByVerdict('approved', author, anas, policyOfAuthors)).toEqual([
        { gate: 'authorMayApprove' },
      ]);
      expect(findRulesViolatedByVerdict('approved', author, none, policyOfAuthors)).toEqual([]);
      expect(findRulesViolatedByVerdict('changes_requested', author, anas, policyOfAuthors)).toEqual([]);
    }
  });

  it('lets everybody take a verdict back', () => {
    expect(findRulesViolatedByVerdict('pending', robo, anas, strictPolicy)).toEqual([]);
  });
});

describe('the way into done', () => {
  const reviews = fc.array(
    fc.tuple(review, giver).map(([said, by]) => ({ ...said, ...by })),
    { maxLength: 6 },
  );

  it('counts each fresh verdict that its reviewer could give today, once', () => {
    fc.assert(
      fc.property(reviews, contentArbitrary, authors, policy, (all, is, of, rules) => {
        const counts = (said: string) =>
          all.filter(
            (one) =>
              one.verdict === said &&
              !isReviewStale(one, is) &&
              findRulesViolatedByVerdict(one.verdict, one, of, rules).length === 0,
          ).length;
        expect(countFreshVerdicts(all, is, of, rules)).toEqual({
          freshApprovals: counts('approved'),
          freshChangesRequested: counts('changes_requested'),
        });
      }),
    );
  });

  it('counts no more under a stricter policy, and with more authors', () => {
    fc.assert(
      fc.property(reviews, contentArbitrary, authors, policy, (all, is, of, rules) => {
        const count = countFreshVerdicts(all, is, of, rules);
        const most = countFreshVerdicts(all, is, new Set(), loosePolicy);
        const least = countFreshVerdicts(all, is, new Set(['ana', 'ben']), strictPolicy);
        expect(count.freshApprovals).toBeLessThanOrEqual(most.freshApprovals);
        expect(count.freshApprovals).toBeGreaterThanOrEqual(least.freshApprovals);
        expect(least.freshApprovals).toBe(0);
      }),
    );
  });
});
