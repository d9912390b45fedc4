/** The state machine of an access request: it is pending, and is decided once. */
import { type AccessDecision, type AccessRequestState } from '@muster/contract';

/**
 * The state after each decision, by the current state. A missing entry means that the decision is refused.
 */
export const accessRequestTransitions: Readonly<
  Record<AccessRequestState, Readonly<Partial<Record<AccessDecision, AccessRequestState>>>>
> = {
  pending: { approve: 'approved', deny: 'denied' },
  approved: {},
  denied: {},
};

/** Returns the state after a decision; undefined if the request was already decided. */
export const stateAfterDecision = (
  state: AccessRequestState,
  decision: AccessDecision,
): AccessRequestState | undefined => accessRequestTransitions[state][decision];
