import { describe, expect, it } from '@jest/globals';
import { Policy } from '@muster/contract';
import fc from 'fast-check';
import {
  findPolicyContradictions,
  exceedsAuditRetention,
  type PolicyChanges,
  applyPolicyChanges,
} from './policy-changes.ts';

const changes: fc.Arbitrary<PolicyChanges> = fc.record(
  {
    requiredApprovals: fc.option(fc.nat({ max: 20 })),
    requireSpecToStart: fc.option(fc.boolean()),
    wipLimits: fc.option(fc.constantFrom('off', 'warn', 'block')),
    allowedEmailDomains: fc.option(fc.uniqueArray(fc.constantFrom('a.example', 'b.example'))),
  },
  { requiredKeys: [] },
);

describe('what is kept of a policy', () => {
  it('is what was set, and never what was not', () => {
    expect(applyPolicyChanges({}, { requiredApprovals: 2, wipLimits: undefined })).toEqual({
      requiredApprovals: 2,
    });
    expect(applyPolicyChanges({ requiredApprovals: 2 }, { requiredApprovals: null })).toEqual({});
    expect(applyPolicyChanges({ wipLimits: 'off' }, {})).toEqual({ wipLimits: 'off' });
  });

  it('reads as the last word on each field, and as the default after null', () => {
    fc.assert(
      fc.property(fc.array(changes), (all) => {
        const stored = all.reduce(applyPolicyChanges, {});
        expect(Object.values(stored)).not.toContain(null);
        const last = Object.assign({}, ...all) as PolicyChanges;
        const set = Object.fromEntries(Object.entries(last).filter(([, value]) => value !== null));
        expect(stored).toEqual(set);
        expect(Policy.parse(stored)).toEqual({ ...Policy.parse({}), ...set });
      }),
    );
  });
});

describe('a policy contradicts itself', () => {
  it.each([
    [900, 14_400, 0],
    [900, 900, 0],
    [901, 900, 1],
  ])('with a lease of %d where %d is the longest: %d times', (usual, longest, times) => {
    const policy = Policy.parse({ defaultLeaseTtlSeconds: usual, maxLeaseTtlSeconds: longest });
    expect(findPolicyContradictions(policy)).toHaveLength(times);
  });

  it('not as it comes', () => {
    expect(findPolicyContradictions(Policy.parse({}))).toEqual([]);
  });
});

it.each([
  [90, 90, false],
  [91, 90, true],
  [3_650, null, false],
  [null, 90, false],
  [undefined, 90, false],
])('%s days of audit under a plan of %s: too long %s', (wanted, planDays, tooLong) => {
  expect(exceedsAuditRetention(wanted, planDays)).toBe(tooLong);
});
