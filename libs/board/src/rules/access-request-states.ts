/** The life of a request for access: it waits, and is decided once. */
import { type AccessDecision, type AccessRequestState } from '@muster/registry';

/** What each decision makes of a request in each state. Where nothing stands, the decision is refused. */
export const accessRequestLife: Readonly<
  Record<AccessRequestState, Readonly<Partial<Record<AccessDecision, AccessRequestState>>>>
> = {
  pending: { approve: 'approved', deny: 'denied' },
  approved: {},
  denied: {},
};

/** The state after a decision; undefined where it was decided before. */
export const afterDecision = (
  state: AccessRequestState,
  decision: AccessDecision,
): AccessRequestState | undefined => accessRequestLife[state][decision];
