import { withNextVersion } from '@muster/driver';
import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import {
  toInvitationEventSubject,
  type InvitationRow,
  lockInvitation,
  updateInvitation,
  toInvitation,
} from '../../data/invitations.ts';
import { invitationTransitions } from '../../rules/invitation-states.ts';

export const revoke = handle(
  organizationsRegistry.invitations.revoke,
  async ({ params, db, access, emit, refuse }) => {
    const [{ at }, invitation] = await Promise.all([access(), lockInvitation(db, params.invitationId)]);
    const { state } = invitation;
    if ('refused' in invitationTransitions[state].revoke) throw refuse('already_resolved', { state });

    const revoked = withNextVersion<InvitationRow>(invitation, { state: 'revoked' }, at);
    db.deferToCommit(updateInvitation(revoked));
    emit('invitation.revoked', toInvitationEventSubject(revoked), {});
    return { invitation: toInvitation(revoked) };
  },
);
