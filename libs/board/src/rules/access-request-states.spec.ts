import { describe, expect, it } from '@jest/globals';
import { accessDecisions, accessRequestStates } from '@muster/contract';
import { accessRequestTransitions, stateAfterDecision } from './access-request-states.ts';

describe('the life of a request for access', () => {
  it('goes from waiting to either answer, once', () => {
    expect(
      accessRequestStates.flatMap((state) =>
        accessDecisions.map((decision) => [
          state,
          decision,
          stateAfterDecision(state, decision) ?? 'refused',
        ]),
      ),
    ).toEqual([
      ['pending', 'approve', 'approved'],
      ['pending', 'deny', 'denied'],
      ['approved', 'approve', 'refused'],
      ['approved', 'deny', 'refused'],
      ['denied', 'approve', 'refused'],
      ['denied', 'deny', 'refused'],
    ]);
    expect(Object.keys(accessRequestTransitions)).toEqual([...accessRequestStates]);
  });
});
