import { nextVersion } from '@muster/driver';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import {
  aboutInvitation,
  type InvitationRow,
  lockInvitation,
  setInvitation,
  toInvitation,
} from '../../data/invitations.ts';
import { invitationLife } from '../../rules/invitation-states.ts';

export const revoke = handle(registry.invitations.revoke, async ({ params, db, access, emit, refuse }) => {
  const [{ at }, invitation] = await Promise.all([access(), lockInvitation(db, params.invitationId)]);
  const { state } = invitation;
  if ('refused' in invitationLife[state].revoke) throw refuse('already_resolved', { state });

  const revoked = nextVersion<InvitationRow>(invitation, { state: 'revoked' }, at);
  db.later(setInvitation(revoked));
  emit('invitation.revoked', aboutInvitation(revoked), {});
  return { invitation: toInvitation(revoked) };
});
