import { describe, expect, it } from '@jest/globals';
import { invitationStates } from '@muster/contract';
import { computeInvitationExpiry, invitationActions, invitationTransitions } from './invitation-states.ts';

describe('the life of an invitation', () => {
  it('lets somebody in from one state alone', () => {
    const accepts = invitationStates.filter((state) => 'to' in invitationTransitions[state].accept);
    expect(accepts).toEqual(['pending']);
  });

  it('never leads out of what was decided', () => {
    for (const state of ['accepted', 'revoked'] as const) {
      for (const action of invitationActions)
        expect(invitationTransitions[state][action]).not.toHaveProperty('to');
    }
  });

  it('nowhere leads to expired: only time does', () => {
    for (const state of invitationStates) {
      for (const action of invitationActions)
        expect(invitationTransitions[state][action]).not.toEqual({ to: 'expired' });
    }
  });

  it('lasts a week', () => {
    expect(computeInvitationExpiry('2026-02-26T09:30:00.123Z')).toBe('2026-03-05T09:30:00.123Z');
  });
});
