import { describe, expect, it } from '@jest/globals';
import { verdicts } from '@muster/registry';
import fc from 'fast-check';
import {
  type Authors,
  countFresh,
  isAuthor,
  isStale,
  type Review,
  type Reviewable,
  reviewed,
  unmetForVerdict,
  type Who,
} from './reviews.ts';

// Few values, so that they often meet; commits, one of them also in short.
const headSha = fc.constantFrom('aaaaaaaa11', 'aaaaaaa', 'bbbbbbbb22');
const diffHash = fc.constantFrom('d1', 'd2');
const nullable = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
const specVersion = fc.integer({ min: 0, max: 2 });
const now = fc.record<Reviewable>({ specVersion, headSha: nullable(headSha), diffHash: nullable(diffHash) });
const verdict = fc.constantFrom(...verdicts);
const weighing = fc.constantFrom('approved', 'changes_requested');
const review = fc.record<Review>({
  verdict,
  specVersion: nullable(specVersion),
  headSha: nullable(headSha),
  diffHash: nullable(diffHash),
});

const approval = (about: Partial<Reviewable> = {}): Review => ({
  verdict: 'approved',
  specVersion: 1,
  headSha: null,
  diffHash: null,
  ...about,
});
const story = (is: Partial<Reviewable> = {}): Reviewable => ({
  specVersion: 1,
  headSha: null,
  diffHash: null,
  ...is,
});

describe('a verdict', () => {
  it('is stale once the spec has another version', () => {
    expect(isStale(approval(), story())).toBe(false);
    expect(isStale(approval(), story({ specVersion: 2 }))).toBe(true);
  });

  it('goes by the diff where both are known, whatever the head commit', () => {
    const rebased = story({ diffHash: 'd1', headSha: 'bbbbbbbb' });
    expect(isStale(approval({ diffHash: 'd1', headSha: 'aaaaaaaa' }), rebased)).toBe(false);
    expect(isStale(approval({ diffHash: 'd2', headSha: 'bbbbbbbb' }), rebased)).toBe(true);
  });

  it('goes by the head commit where a diff is not known, also where one is written shorter', () => {
    const pushed = story({ headSha: 'bbbbbbbb22' });
    expect(isStale(approval({ headSha: 'aaaaaaaa', diffHash: 'd1' }), pushed)).toBe(true);
    expect(isStale(approval({ headSha: 'aaaaaaaa' }), story({ ...pushed, diffHash: 'd1' }))).toBe(true);
    expect(isStale(approval({ headSha: 'bbbbbbb' }), pushed)).toBe(false);
    expect(isStale(approval({ headSha: 'bbbbbbbb223' }), pushed)).toBe(false);
  });

  it('is about code only as far as it is known', () => {
    expect(isStale(approval({ headSha: 'aaaaaaaa' }), story())).toBe(false);
    expect(isStale(approval(), story({ headSha: 'aaaaaaaa', diffHash: 'd1' }))).toBe(false);
  });

  it('is never stale where nothing was decided', () => {
    fc.assert(
      fc.property(review, now, (one, is) => {
        fc.pre(one.verdict === 'pending' || one.verdict === 'commented');
        return !isStale(one, is);
      }),
    );
  });

  it('is fresh when it is given on what there is, and stays so while nothing moves', () => {
    fc.assert(fc.property(weighing, now, (said, is) => !isStale({ verdict: said, ...reviewed({}, is) }, is)));
  });

  it('is stale as soon as anything known on both sides differs, by the more exact of the two', () => {
    fc.assert(
      fc.property(weighing, fc.tuple(now, now), (said, [then, is]) => {
        const byDiff = then.diffHash !== null && is.diffHash !== null;
        const byHead = then.headSha !== null && is.headSha !== null;
        const isOtherHead = then.headSha?.slice(0, 7) !== is.headSha?.slice(0, 7);
        const isOther = byDiff ? then.diffHash !== is.diffHash : byHead && isOtherHead;
        expect(isStale({ verdict: said, ...then }, is)).toBe(then.specVersion !== is.specVersion || isOther);
      }),
    );
  });
});

describe('what was reviewed', () => {
  it('is what there is, where nothing is named', () => {
    const is = story({ headSha: 'aaaaaaaa', diffHash: 'd1' });
    expect(reviewed({}, is)).toEqual(is);
    expect(reviewed({ headSha: 'aaaaaaa' }, is)).toEqual({ ...is, headSha: 'aaaaaaa' });
    expect(reviewed({ diffHash: 'd1' }, is)).toEqual(is);
  });

  it('takes nothing over from other code than the one that is named', () => {
    const is = story({ headSha: 'bbbbbbbb', diffHash: 'd1' });
    expect(reviewed({ headSha: 'aaaaaaaa' }, is)).toMatchObject({ headSha: 'aaaaaaaa', diffHash: null });
    expect(reviewed({ diffHash: 'd2' }, is)).toMatchObject({ headSha: null, diffHash: 'd2' });
  });

  it('is stale at once exactly where what is named is known to be something else', () => {
    const named = fc.record({ specVersion, headSha, diffHash }, { requiredKeys: [] });
    fc.assert(
      fc.property(weighing, named, now, (said, part, is) => {
        const kept = { verdict: said, ...reviewed(part, is) };
        const asNamed = {
          verdict: said,
          specVersion: part.specVersion ?? is.specVersion,
          headSha: part.headSha ?? null,
          diffHash: part.diffHash ?? null,
        };
        expect(isStale(kept, is)).toBe(isStale(asNamed, is));
        // What was named is kept as it was named.
        expect(kept).toMatchObject(part);
      }),
    );
  });
});

const person = fc.constantFrom('ana', 'ben');
const who = fc.oneof(
  fc.record<Who>({ memberId: person, agentId: fc.constant(null) }),
  fc.record<Who>({ memberId: fc.constant(null), agentId: fc.constantFrom('robo', 'max') }),
);
const authors = fc.record<Authors>({
  memberIds: fc.subarray(['ana', 'ben']),
  agentIds: fc.subarray(['robo', 'max']),
});
const policy = fc.record({ agentsMayReview: fc.boolean(), authorMayApprove: fc.boolean() });
const strict = { agentsMayReview: false, authorMayApprove: false };
const loose = { agentsMayReview: true, authorMayApprove: true };

describe('the policy', () => {
  const ana: Who = { memberId: 'ana', agentId: null };
  const robo: Who = { memberId: null, agentId: 'robo' };
  const both: Authors = { memberIds: ['ana'], agentIds: ['robo'] };
  const none: Authors = { memberIds: [], agentIds: [] };

  it('keeps agents from reviewing where they may not, whatever they say', () => {
    for (const said of ['approved', 'changes_requested', 'commented'] as const) {
      expect(unmetForVerdict(said, robo, none, { ...loose, agentsMayReview: false })).toEqual([
        { gate: 'agentsMayReview' },
      ]);
      expect(unmetForVerdict(said, ana, none, { ...loose, agentsMayReview: false })).toEqual([]);
    }
  });

  it('keeps authors from approving, and from nothing else', () => {
    const policyOfAuthors = { ...loose, authorMayApprove: false };
    for (const author of [ana, robo]) {
      expect(isAuthor(author, both)).toBe(true);
      expect(unmetForVerdict('approved', author, both, policyOfAuthors)).toEqual([
        { gate: 'authorMayApprove' },
      ]);
      expect(unmetForVerdict('approved', author, none, policyOfAuthors)).toEqual([]);
      expect(unmetForVerdict('changes_requested', author, both, policyOfAuthors)).toEqual([]);
    }
  });

  it('lets everybody take a verdict back', () => {
    expect(unmetForVerdict('pending', robo, both, strict)).toEqual([]);
  });
});

describe('the way into done', () => {
  const given = fc.array(
    fc.tuple(review, who).map(([said, by]) => ({ ...said, ...by })),
    { maxLength: 6 },
  );

  it('counts each fresh verdict that its reviewer could give today, once', () => {
    fc.assert(
      fc.property(given, now, authors, policy, (reviews, is, of, rules) => {
        const counts = (said: string) =>
          reviews.filter(
            (one) =>
              one.verdict === said &&
              !isStale(one, is) &&
              unmetForVerdict(one.verdict, one, of, rules).length === 0,
          ).length;
        expect(countFresh(reviews, is, of, rules)).toEqual({
          freshApprovals: counts('approved'),
          freshChangesRequested: counts('changes_requested'),
        });
      }),
    );
  });

  it('counts no more under a stricter policy, and with more authors', () => {
    fc.assert(
      fc.property(given, now, authors, policy, (reviews, is, of, rules) => {
        const count = countFresh(reviews, is, of, rules);
        const most = countFresh(reviews, is, { memberIds: [], agentIds: [] }, loose);
        const least = countFresh(
          reviews,
          is,
          { memberIds: ['ana', 'ben'], agentIds: ['robo', 'max'] },
          strict,
        );
        expect(count.freshApprovals).toBeLessThanOrEqual(most.freshApprovals);
        expect(count.freshApprovals).toBeGreaterThanOrEqual(least.freshApprovals);
        expect(least.freshApprovals).toBe(0);
      }),
    );
  });
});
