import { nextVersion } from '@muster/driver';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import {
  aboutInvitation,
  getSendsOf,
  type InvitationRow,
  lockInvitation,
  setInvitation,
  toInvitation,
} from '../../data/invitations.ts';
import { lockSeats } from '../../data/seats.ts';
import { expiryOf, invitationLife } from '../../rules/invitation-states.ts';
import { mostSends, nextSendAfter } from '../../rules/invitation-sends.ts';
import { lacksSeat, requireAllowedAddress, requireOwnerForAdmin, sendInvitation } from './send-invitation.ts';

export const resend = handle(
  registry.invitations.resend,
  async ({ params, db, access, policy: askPolicy, emit, refuse }) => {
    const [{ at, actingRole }, policy, seats, invitation, sends] = await Promise.all([
      access(),
      askPolicy(),
      lockSeats(db),
      lockInvitation(db, params.invitationId),
      getSendsOf(db, params.invitationId),
    ]);
    requireOwnerForAdmin(actingRole, invitation.role);
    const { state } = invitation;
    if ('refused' in invitationLife[state].resend) throw refuse('already_resolved', { state });
    requireAllowedAddress(invitation.email, policy);
    const retryAt = nextSendAfter(sends, at, true);
    if (retryAt !== null)
      throw refuse('limit_exceeded', { limit: 'invitation_mails', max: mostSends, retryAt });
    // A pending invitation already holds its seat.
    if (state === 'expired' && lacksSeat(invitation.role, seats))
      throw refuse('seats_exhausted', { ...seats });

    const mails = state === 'expired' ? 1 : invitation.sends + 1;
    const renewed = nextVersion<InvitationRow>(
      invitation,
      { state: 'pending', expires_at: expiryOf(at), sends: mails, sent_at: at },
      at,
    );
    sendInvitation(db, renewed, setInvitation(renewed));
    emit('invitation.renewed', aboutInvitation(renewed), {});
    return { invitation: toInvitation(renewed) };
  },
);
