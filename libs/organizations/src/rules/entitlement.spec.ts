import { describe, expect, it } from '@jest/globals';
import { plans } from '@muster/contract';
import { planFeatures, planLimits, defaultSeatsByPlan } from './entitlement.ts';

describe('plans', () => {
  it.each(['seats', 'projects', 'agentsInCatalog', 'auditRetentionDays'] as const)(
    'never take %s away as they get dearer',
    (limit) => {
      const allowed = plans.map((plan) => planLimits(plan)[limit] ?? Infinity);
      expect(allowed).toEqual([...allowed].sort((a, b) => a - b));
    },
  );

  it.each(plans)('start %s with seats that it can have', (plan) => {
    expect(defaultSeatsByPlan[plan]).toBeLessThanOrEqual(planLimits(plan).seats ?? Infinity);
  });

  it('keep what they bring when they get dearer', () => {
    const [free, team, enterprise] = plans.map(
      (plan) => Object.values(planFeatures(plan)).filter(Boolean).length,
    );
    expect([free, team, enterprise]).toEqual([4, 5, 6]);
  });
});
