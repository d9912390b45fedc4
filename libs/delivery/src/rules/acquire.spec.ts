import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type AcquireFacts,
  decideAcquire,
  type LeaseWithHolder,
  type Holder,
  isSameHolder,
} from './acquire.ts';

const now = '2026-11-21T09:30:00.000Z';
const [past, future] = ['2026-11-21T09:29:59.999Z', '2026-11-21T09:30:00.001Z'];
const chloe: Holder = { memberId: 'chloe', agentId: null, runId: null };
const robo: Holder = { memberId: 'chloe', agentId: 'robo', runId: 'run-1' };
const ben: Holder = { memberId: 'ben', agentId: null, runId: null };

const lease = (
  holder: Holder,
  expiresAt: string,
  targetType: 'story' | 'delivery_group' = 'story',
): LeaseWithHolder => ({
  targetType,
  targetId: targetType,
  holder,
  actor: { kind: 'member', memberId: holder.memberId, agentId: holder.agentId, name: holder.memberId },
  expiresAt,
});
const decide = (facts: Partial<AcquireFacts>) =>
  decideAcquire({
    now,
    caller: chloe,
    isLead: false,
    takeOver: false,
    targetLease: null,
    rivalLeases: [],
    rivalExecutions: [],
    execution: null,
    hasOpenChildren: false,
    isStopped: false,
    isOverBudget: false,
    isTargetNamed: true,
    mayLiftStop: false,
    ...facts,
  });
const createOffer = (toMemberId: string | null, toAgentId: string | null, expiresAt = future) =>
  ({ state: 'offered', offer: { toMemberId, toAgentId, expiresAt } }) as const;

describe('who may have a lease', () => {
  it('is whoever asks first', () => {
    expect(decide({})).toMatchObject({ kind: 'grant', superseded: null, freedLeases: [] });
  });

  it('is the same holder again, also after its time; another run, or the same member’s agent, is another', () => {
    for (const expiresAt of [past, future]) {
      expect(decide({ targetLease: lease(chloe, expiresAt) })).toEqual({ kind: 'extend' });
    }
    expect(decide({ targetLease: lease(robo, future) })).toMatchObject({ reason: 'lease_held' });
    expect(decide({ targetLease: lease({ ...chloe, runId: 'x' }, future) })).toMatchObject({
      reason: 'lease_held',
    });
  });

  it('is another once the time is over, and at its very end', () => {
    for (const expiresAt of [past, now]) {
      const own = lease(ben, expiresAt);
      expect(decide({ targetLease: own })).toMatchObject({
        kind: 'grant',
        superseded: own,
        wasLiveLeaseTakenOver: false,
      });
    }
  });

  it('is its last holder for five minutes after the time is over, where a search found the target', () => {
    const [within, over] = ['2026-11-21T09:25:00.001Z', '2026-11-21T09:25:00.000Z'];
    const found = { isTargetNamed: false };
    for (const expiresAt of [past, within]) {
      const own = lease(ben, expiresAt);
      expect(decide({ ...found, targetLease: own })).toMatchObject({
        reason: 'lease_held',
        conflictingLease: own,
      });
      expect(decide({ ...found, rivalLeases: [own] })).toMatchObject({
        reason: 'lease_held',
        conflictingLease: own,
      });
      expect(decide({ targetLease: own })).toMatchObject({ kind: 'grant' });
      expect(decide({ ...found, targetLease: lease(chloe, expiresAt) })).toEqual({ kind: 'extend' });
    }
    expect(decide({ ...found, targetLease: lease(ben, over) })).toMatchObject({ kind: 'grant' });
  });

  it('is a lead by taking over, and nobody else', () => {
    const own = lease(ben, future);
    expect(decide({ targetLease: own, takeOver: true })).toMatchObject({ reason: 'take_over_forbidden' });
    expect(decide({ targetLease: own, isLead: true })).toMatchObject({
      reason: 'lease_held',
      conflictingLease: own,
    });
    expect(decide({ targetLease: own, isLead: true, takeOver: true })).toMatchObject({
      kind: 'grant',
      wasLiveLeaseTakenOver: true,
    });
  });

  it('is the member whose own agent holds it, by taking over; not the agent of the member who does', () => {
    const own = lease(robo, future);
    expect(decide({ targetLease: own })).toMatchObject({ reason: 'lease_held' });
    expect(decide({ targetLease: own, takeOver: true })).toMatchObject({
      kind: 'grant',
      wasLiveLeaseTakenOver: true,
    });
    expect(decide({ caller: robo, targetLease: lease(chloe, future), takeOver: true })).toMatchObject({
      reason: 'take_over_forbidden',
    });
    expect(decide({ caller: ben, targetLease: own, takeOver: true })).toMatchObject({
      reason: 'take_over_forbidden',
    });
  });

  it('is another run of the same agent, by taking over; not another agent of the member', () => {
    const own = lease(robo, future);
    const otherRun = { ...robo, runId: 'run-2' };
    expect(decide({ caller: otherRun, targetLease: own })).toMatchObject({ reason: 'lease_held' });
    expect(decide({ caller: otherRun, targetLease: own, takeOver: true })).toMatchObject({
      kind: 'grant',
      superseded: own,
      wasLiveLeaseTakenOver: true,
    });
    expect(decide({ caller: { ...robo, agentId: 'scout' }, targetLease: own, takeOver: true })).toMatchObject(
      { reason: 'take_over_forbidden' },
    );
  });

  it('is for a while the one to whom it is offered, then anybody', () => {
    expect(decide({ execution: createOffer('ben', null) })).toMatchObject({ reason: 'reserved' });
    expect(decide({ execution: createOffer('chloe', null) })).toMatchObject({ kind: 'grant', offered: true });
    expect(decide({ caller: robo, execution: createOffer('chloe', null) })).toMatchObject({
      reason: 'reserved',
    });
    expect(decide({ caller: robo, execution: createOffer(null, 'robo') })).toMatchObject({ kind: 'grant' });
    expect(decide({ execution: createOffer('ben', null, now) })).toMatchObject({
      kind: 'grant',
      offered: false,
    });
    const taken = { execution: createOffer('ben', null), takeOver: true };
    expect(decide(taken)).toMatchObject({ reason: 'take_over_forbidden' });
    expect(decide({ ...taken, isLead: true })).toMatchObject({ kind: 'grant', offered: false });
  });

  it('is no one under a stop, in any run, but for whoever lifts it', () => {
    const execution = { state: 'available', offer: null } as const;
    const stopped = { execution, isStopped: true };
    expect(decide(stopped)).toMatchObject({ reason: 'stop_requested' });
    expect(decide({ ...stopped, targetLease: lease(chloe, future) })).toMatchObject({
      reason: 'stop_requested',
    });
    expect(decide({ ...stopped, execution: null })).toMatchObject({ reason: 'stop_requested' });
    expect(decide({ ...stopped, mayLiftStop: true })).toMatchObject({ kind: 'grant' });
    expect(decide({ ...stopped, mayLiftStop: true, targetLease: lease(chloe, past) })).toEqual({
      kind: 'extend',
    });
    expect(decide({ ...stopped, mayLiftStop: true, targetLease: lease(ben, future) })).toMatchObject({
      reason: 'lease_held',
    });
  });

  it('is no one for a story with open children, except the holder', () => {
    const parent = { hasOpenChildren: true };
    expect(decide(parent)).toEqual({ kind: 'refuse', reason: 'has_children' });
    expect(
      decide({ ...parent, targetLease: lease(ben, future), isLead: true, takeOver: true }),
    ).toMatchObject({ reason: 'has_children' });
    expect(decide({ ...parent, targetLease: lease(chloe, past) })).toEqual({ kind: 'extend' });
  });

  it('is nobody beside a live lease of the group, but for its holder; an expired one is set free', () => {
    const group = lease(ben, future, 'delivery_group');
    expect(decide({ rivalLeases: [group] })).toMatchObject({ reason: 'lease_held', conflictingLease: group });
    expect(decide({ rivalLeases: [group], isLead: true, takeOver: true })).toMatchObject({
      reason: 'lease_held',
    });
    expect(decide({ caller: ben, rivalLeases: [group] })).toMatchObject({ kind: 'grant', freedLeases: [] });
    const expired = lease(ben, past, 'delivery_group');
    expect(decide({ rivalLeases: [expired] })).toMatchObject({ kind: 'grant', freedLeases: [expired] });
  });

  it('is nobody but the addressee while the group is offered, not even a lead who takes over', () => {
    const offer = createOffer('ben', null);
    expect(decide({ rivalExecutions: [offer] })).toMatchObject({ reason: 'reserved', offer: offer.offer });
    expect(decide({ rivalExecutions: [offer], isLead: true, takeOver: true })).toMatchObject({
      reason: 'reserved',
    });
    expect(decide({ caller: ben, rivalExecutions: [offer] })).toMatchObject({
      kind: 'grant',
      offered: false,
    });
    const lapsed = { ...offer, offer: { ...offer.offer, expiresAt: past } };
    expect(decide({ rivalExecutions: [lapsed] })).toMatchObject({ kind: 'grant' });
  });
});

const holder = fc.constantFrom(chloe, robo, ben, { ...ben, runId: 'r' });
const leaseArbitrary = fc.record({ holder, expiresAt: fc.constantFrom(past, now, future) });

describe('any acquire', () => {
  it('never takes a live lease from another without a lead who says so', () => {
    fc.assert(
      fc.property(
        holder,
        fc.option(leaseArbitrary),
        fc.array(leaseArbitrary, { maxLength: 3 }),
        fc.boolean(),
        fc.boolean(),
        (caller, own, rivals, isLead, takeOver) => {
          const rivalLeases = rivals.map((one) => lease(one.holder, one.expiresAt, 'delivery_group'));
          const decision = decide({
            caller,
            targetLease: own && lease(own.holder, own.expiresAt),
            rivalLeases,
            isLead,
            takeOver,
          });
          const isLive = ({ holder: by, expiresAt }: { holder: Holder; expiresAt: string }): boolean =>
            expiresAt > now && !isSameHolder(by, caller);
          if (decision.kind === 'extend') expect(own && isSameHolder(own.holder, caller)).toBe(true);
          if (decision.kind !== 'grant') return;
          expect(rivalLeases.some(isLive)).toBe(false);
          if (own === null || !isLive(own)) return;
          expect(takeOver).toBe(true);
          expect(isLead || (caller === chloe && own.holder === robo)).toBe(true);
        },
      ),
    );
  });
});
