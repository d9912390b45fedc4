import { describe, expect, it } from '@jest/globals';
import { type Obstacle, Policy } from '@muster/contract';
import { type ReadinessFacts, computeReadiness } from './readiness.ts';
import { canMove } from './workflow.ts';

const ready: ReadinessFacts = {
  archived: false,
  status: 'ready',
  isBlocked: false,
  hasOpenChildren: false,
  hasSpec: true,
  blockers: [],
  column: { wipLimit: null, storyCount: 3 },
  leaseHeld: false,
  stopRequested: false,
};
const blocker = (status: ReadinessFacts['status']) => ({
  id: `id-${status}`,
  key: 'WEB-2',
  title: 'Two',
  status,
});
const reasonsOf = (facts: Partial<ReadinessFacts>, policy: Partial<Policy> = {}) => {
  const { canStart, reasons } = computeReadiness({ ...ready, ...facts }, Policy.parse(policy));
  expect(canStart).toBe(reasons.length === 0);
  return reasons;
};
const fullColumn = { wipLimit: 3, storyCount: 3 };

describe('readiness', () => {
  it.each<[Obstacle, Partial<ReadinessFacts>, Partial<Policy>]>([
    ['archived', { archived: true }, {}],
    ['finished', { status: 'done' }, {}],
    ['finished', { status: 'canceled' }, {}],
    ['blocked_by', { blockers: [blocker('in_review')] }, {}],
    ['blocked', { isBlocked: true }, {}],
    ['has_children', { hasOpenChildren: true }, {}],
    ['spec_missing', { hasSpec: false }, { requireSpecToStart: true }],
    ['no_column', { column: null }, {}],
    ['wip_limit', { column: fullColumn }, { wipLimits: 'block' }],
    ['lease_held', { leaseHeld: true }, {}],
    ['stop_requested', { stopRequested: true }, {}],
  ])('names %s where it stands in the way: %j', (obstacle, facts, policy) => {
    expect(reasonsOf(facts, policy)).toEqual([obstacle]);
  });

  it('is there where nothing does, by the rules of the move itself', () => {
    expect(canMove('ready', 'in_progress')).toBe(true);
    expect(reasonsOf({})).toEqual([]);
    expect(reasonsOf({ hasSpec: false })).toEqual([]);
    expect(reasonsOf({ column: fullColumn }, { wipLimits: 'warn' })).toEqual([]);
    expect(reasonsOf({ blockers: [blocker('done'), blocker('canceled')] })).toEqual([]);
  });

  it('asks nothing of the way in of work that has begun', () => {
    for (const status of ['in_progress', 'in_review'] as const) {
      const facts = { status, hasSpec: false, column: fullColumn };
      expect(reasonsOf(facts, { requireSpecToStart: true, wipLimits: 'block' })).toEqual([]);
    }
  });

  it('names all that stands in the way, and the blockers that are open', () => {
    const facts = {
      ...ready,
      archived: true,
      blockers: [blocker('done'), blocker('ready')],
      leaseHeld: true,
    };
    expect(computeReadiness(facts, Policy.parse({}))).toEqual({
      canStart: false,
      reasons: ['archived', 'blocked_by', 'lease_held'],
      openBlockers: [blocker('ready')],
    });
  });
});
