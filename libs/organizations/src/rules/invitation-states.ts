/**
 * The state machine of an invitation as one table. The code uses it, and its documentation is generated from
 * it.
 */
import { type InvitationState, type ErrorReason } from '@muster/contract';

/** The actions on an invitation. `invite` means to invite the same address again. */
export const invitationActions = ['invite', 'resend', 'revoke', 'accept'] as const;
export type InvitationAction = (typeof invitationActions)[number];

/** The result of an action: the new state, another invitation, or a refusal. */
export type InvitationOutcome =
  | { readonly to: InvitationState }
  | { readonly another: 'invitation' }
  | { readonly refused: Extract<ErrorReason, 'already_exists' | 'already_resolved' | 'expired'> };

export const invitationTransitions: Readonly<
  Record<InvitationState, Readonly<Record<InvitationAction, InvitationOutcome>>>
> = {
  pending: {
    invite: { refused: 'already_exists' },
    resend: { to: 'pending' },
    revoke: { to: 'revoked' },
    accept: { to: 'accepted' },
  },
  // An invitation expires by time alone. Its seat becomes free.
  expired: {
    invite: { to: 'pending' },
    resend: { to: 'pending' },
    revoke: { refused: 'already_resolved' },
    accept: { refused: 'expired' },
  },
  accepted: {
    invite: { another: 'invitation' },
    resend: { refused: 'already_resolved' },
    revoke: { refused: 'already_resolved' },
    accept: { refused: 'already_resolved' },
  },
  revoked: {
    invite: { another: 'invitation' },
    resend: { refused: 'already_resolved' },
    revoke: { refused: 'already_resolved' },
    accept: { refused: 'already_resolved' },
  },
};

/** The validity of an invitation in days. */
export const invitationValidityDays = 7;

/** Returns the expiry time of an invitation that is sent at the time `at`. */
export const computeInvitationExpiry = (sentAt: string): string =>
  new Date(Date.parse(sentAt) + invitationValidityDays * 86_400_000).toISOString();
