/** The life of an invitation, as one table; the code goes by it, and its documentation is drawn from it. */
import { type InvitationState, type Reason } from '@muster/registry';

/** What can be done about an invitation. `invite` is to invite the same address again. */
export const invitationActions = ['invite', 'resend', 'revoke', 'accept'] as const;
export type InvitationAction = (typeof invitationActions)[number];

/** What follows: the state it is in from then on, another invitation beside it, or a refusal. */
export type InvitationOutcome =
  | { readonly to: InvitationState }
  | { readonly another: 'invitation' }
  | { readonly refused: Extract<Reason, 'already_exists' | 'already_resolved' | 'expired'> };

export const invitationLife: Readonly<
  Record<InvitationState, Readonly<Record<InvitationAction, InvitationOutcome>>>
> = {
  pending: {
    invite: { refused: 'already_exists' },
    resend: { to: 'pending' },
    revoke: { to: 'revoked' },
    accept: { to: 'accepted' },
  },
  // By time alone, and without anybody's doing. Its seat is free again.
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

/** How long an invitation can be accepted. */
export const invitationDays = 7;

/** When an invitation that goes out `at` expires. */
export const expiryOf = (at: string): string =>
  new Date(Date.parse(at) + invitationDays * 86_400_000).toISOString();
