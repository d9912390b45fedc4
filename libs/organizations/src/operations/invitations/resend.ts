import { withNextVersion } from '@muster/driver';
import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import {
  toInvitationEventSubject,
  getSendsOfInvitation,
  type InvitationRow,
  lockInvitation,
  updateInvitation,
  toInvitation,
} from '../../data/invitations.ts';
import { lockSeats } from '../../data/seats.ts';
import { computeInvitationExpiry, invitationTransitions } from '../../rules/invitation-states.ts';
import { maxMailsPerAddress, findNextSendTime } from '../../rules/invitation-sends.ts';
import { lacksSeat, requireAllowedAddress, requireOwnerForAdmin, sendInvitation } from './send-invitation.ts';

export const resend = handle(
  organizationsRegistry.invitations.resend,
  async ({ params, db, access, policy: askPolicy, emit, refuse }) => {
    const [{ at, actingRole }, policy, seats, invitation, sends] = await Promise.all([
      access(),
      askPolicy(),
      lockSeats(db),
      lockInvitation(db, params.invitationId),
      getSendsOfInvitation(db, params.invitationId),
    ]);
    requireOwnerForAdmin(actingRole, invitation.role);
    const { state } = invitation;
    if ('refused' in invitationTransitions[state].resend) throw refuse('already_resolved', { state });
    requireAllowedAddress(invitation.email, policy);
    const retryAt = findNextSendTime(sends, at, true);
    if (retryAt !== null)
      throw refuse('limit_exceeded', { limit: 'invitation_mails', max: maxMailsPerAddress, retryAt });
    // A pending invitation already holds its seat.
    if (state === 'expired' && lacksSeat(invitation.role, seats))
      throw refuse('seats_exhausted', { ...seats });

    const mails = state === 'expired' ? 1 : invitation.sends + 1;
    const renewed = withNextVersion<InvitationRow>(
      invitation,
      { state: 'pending', expires_at: computeInvitationExpiry(at), sends: mails, sent_at: at },
      at,
    );
    sendInvitation(db, renewed, updateInvitation(renewed));
    emit('invitation.renewed', toInvitationEventSubject(renewed), {});
    return { invitation: toInvitation(renewed) };
  },
);
