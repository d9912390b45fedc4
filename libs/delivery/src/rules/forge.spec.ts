import { describe, expect, it } from '@jest/globals';
import { type ForgeFact, type ForgeState, ObservationKind } from '@muster/contract';
import fc from 'fast-check';
import {
  aspectOf,
  applyFact,
  isClosedUnmerged,
  isMerged,
  needsRework,
  findRequestedRework,
} from './forge.ts';

const anyFact: fc.Arbitrary<ForgeFact> = fc.record(
  {
    kind: fc.constantFrom(...ObservationKind.options),
    // The generator has few times, so that several facts often have the same time.
    at: fc.constantFrom('2026-11-21T09:00:00.000Z', '2026-11-21T09:00:01.000Z', '2026-11-21T09:00:02.000Z'),
    dedupeKey: fc.uuid(),
    ref: fc.constant(null),
    sha: fc.constant(null),
    number: fc.constant(null),
    url: fc.constant(null),
    rev: fc.nat(3),
    reviewer: fc.constantFrom('1', '2'),
  },
  { requiredKeys: ['kind', 'at', 'dedupeKey', 'ref', 'sha', 'number', 'url'] },
);
const fact: fc.Arbitrary<ForgeFact> = anyFact.map(({ reviewer, ...others }) =>
  reviewer === undefined || aspectOf(others.kind) !== 'review' ? others : { ...others, reviewer },
);
const applyFacts = (facts: readonly ForgeFact[]): ForgeState =>
  facts.reduce<ForgeState>((state, next) => applyFact(state, next).state, {});
const at = (kind: ObservationKind, second: number): ForgeFact => ({
  kind,
  at: `2026-11-21T09:00:0${second}.000Z`,
  dedupeKey: `${kind}-${second}`,
  ref: null,
  sha: null,
  number: null,
  url: null,
});

describe('what the forge said', () => {
  it('folds to the same in whatever order it arrives, and however often', () => {
    const atOwnTime = ({ kind, at, rev, reviewer }: ForgeFact): string => [kind, at, rev, reviewer].join(' ');
    const facts = fc.uniqueArray(fact, { maxLength: 8, selector: atOwnTime });
    const arrivals = facts.chain((facts) => {
      const twice = [...facts, ...facts];
      const all = { minLength: twice.length, maxLength: twice.length };
      return fc.record({ facts: fc.constant(facts), shuffled: fc.shuffledSubarray(twice, all) });
    });
    fc.assert(
      fc.property(arrivals, ({ facts, shuffled }) => {
        expect(applyFacts(shuffled)).toEqual(applyFacts(facts));
      }),
    );
  });

  it('is what arrived last of two facts of one kind and time, whatever their keys', () => {
    for (const keys of [
      ['x', 'y'],
      ['y', 'x'],
    ]) {
      const [first, second] = keys.map((dedupeKey) => ({ ...at('branch_pushed', 1), dedupeKey }));
      expect(applyFacts([first, second] as ForgeFact[]).branch?.dedupeKey).toBe(second?.dedupeKey);
    }
  });

  it('is never turned back by what was observed before', () => {
    fc.assert(
      fc.property(fc.array(fact, { maxLength: 8 }), fact, (facts, late) => {
        const state = applyFacts(facts);
        const aspect = aspectOf(late.kind);
        const isOfReviewer = aspect === 'review' && late.reviewer !== undefined;
        const known = isOfReviewer ? state.reviews?.[late.reviewer ?? ''] : state[aspect];
        fc.pre(known !== undefined && known.at > late.at && late.kind !== 'pr_merged');
        expect(applyFact(state, late)).toEqual({ state, news: false });
      }),
    );
  });

  it('has a merge for good, also where a closing was observed after it', () => {
    const state = applyFacts([at('pr_opened', 1), at('pr_closed', 3), at('pr_merged', 2)]);
    expect([isMerged(state), isClosedUnmerged(state)]).toEqual([true, false]);
  });

  it('asks for rework while the newest review of any reviewer asks for changes', () => {
    const by = (reviewer: string, kind: ObservationKind, second: number) => ({
      ...at(kind, second),
      reviewer,
    });
    const asks = (...facts: ForgeFact[]) => findRequestedRework(applyFacts(facts))?.at.slice(17, 19) ?? null;
    const requested = by('1', 'changes_requested', 2);
    expect(asks(requested, by('2', 'review_approved', 3))).toBe('02');
    expect(asks(requested, by('1', 'review_approved', 3))).toBeNull();
    expect(asks(requested, by('1', 'review_dismissed', 2))).toBeNull();
    expect(asks(by('1', 'review_dismissed', 2), requested)).toBeNull();
    expect(asks(requested, by('1', 'review_dismissed', 1))).toBe('02');
    expect(asks(requested, by('2', 'changes_requested', 3), by('2', 'review_dismissed', 3))).toBe('02');
    expect(asks(requested, at('review_approved', 3))).toBe('02');
    expect(asks(at('changes_requested', 1), by('1', 'review_approved', 3))).toBeNull();
    expect(asks(requested, at('branch_pushed', 3))).toBeNull();
  });

  it('asks for rework while something failed since the last push', () => {
    expect(needsRework(applyFacts([at('branch_pushed', 1), at('checks_failed', 2)]))).toBe(true);
    expect(needsRework(applyFacts([at('checks_failed', 1), at('branch_pushed', 2)]))).toBe(false);
    expect(needsRework(applyFacts([at('checks_failed', 1), at('checks_passed', 2)]))).toBe(false);
    expect(needsRework(applyFacts([at('changes_requested', 1)]))).toBe(true);
    expect(needsRework(applyFacts([at('merge_conflict', 1)]))).toBe(true);
  });
});
