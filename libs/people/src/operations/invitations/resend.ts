import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import {
  aboutInvitation,
  type InvitationRow,
  lockInvitation,
  setInvitation,
  toInvitation,
} from '../../data/invitations.ts';
import { lockSeats } from '../../data/seats.ts';
import { expiryOf, invitationLife } from '../../rules/invitation-states.ts';
import { lacksSeat, requireOwnerForAdmin, sendInvitation } from './send-invitation.ts';

export const resend = handle(
  registry.invitations.resend,
  async ({ params, caller, db, access, emit, refuse }) => {
    const { orgId } = caller;
    const [{ at, orgRole }, seats, invitation] = await Promise.all([
      access(),
      lockSeats(db, orgId),
      lockInvitation(db, orgId, params.invitationId),
    ]);
    requireOwnerForAdmin(orgRole, invitation.role);
    const { state } = invitation;
    if ('refused' in invitationLife[state].resend) throw refuse('already_resolved', { state });
    // A pending one has its seat.
    if (state === 'expired' && lacksSeat(invitation.role, seats))
      throw refuse('seats_exhausted', { ...seats });

    const renewed: InvitationRow = {
      ...invitation,
      state: 'pending',
      expires_at: expiryOf(at),
      updated_at: at,
      version: invitation.version + 1,
    };
    sendInvitation(db, orgId, renewed, setInvitation(orgId, renewed));
    emit('invitation.renewed', aboutInvitation(renewed), {});
    return { invitation: toInvitation(renewed) };
  },
);
