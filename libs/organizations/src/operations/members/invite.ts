import { newId } from '@muster/driver';
import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import {
  toInvitationEventSubject,
  getSendsToAddress,
  insertInvitation,
  type InvitationRow,
  lockOpenInvitation,
  updateInvitation,
  toInvitation,
} from '../../data/invitations.ts';
import { requireTeamIds } from '../../data/invited-into.ts';
import { hasMemberWithEmail, lockCallerMembership } from '../../data/members.ts';
import { resolveProjectIds } from '../../data/named-projects.ts';
import { lockSeats } from '../../data/seats.ts';
import { computeInvitationExpiry, invitationTransitions } from '../../rules/invitation-states.ts';
import { maxMailsPerAddress, findNextSendTime } from '../../rules/invitation-sends.ts';
import {
  lacksSeat,
  requireAllowedAddress,
  requireOwnerForAdmin,
  sendInvitation,
} from '../invitations/send-invitation.ts';

export const invite = handle(
  organizationsRegistry.members.invite,
  async ({ params, caller, db, access, policy: askPolicy, emit, refuse }) => {
    const { email, role } = params;
    const [{ at, actingRole }, policy, seats, , open, isMember, sends, teamIds, projectIds] =
      await Promise.all([
        access(),
        askPolicy(),
        lockSeats(db),
        // Removing the caller also revokes the invitations that the caller sent. Because of this lock, either
        // the removal waits for this call, or this call fails.
        lockCallerMembership(db, caller),
        lockOpenInvitation(db, email),
        hasMemberWithEmail(db, email),
        getSendsToAddress(db, email),
        requireTeamIds(db, params.teamIds),
        resolveProjectIds(db, caller, params.projectIds),
      ]);
    requireOwnerForAdmin(actingRole, role);
    if (isMember) throw refuse('already_exists');
    if (open !== undefined) {
      const outcome = invitationTransitions[open.state].invite;
      if ('refused' in outcome) throw refuse('already_exists', { invitationId: open.id });
    }
    requireAllowedAddress(email, policy);
    const retryAt = findNextSendTime(sends, at, false);
    if (retryAt !== null)
      throw refuse('limit_exceeded', { limit: 'invitation_mails', max: maxMailsPerAddress, retryAt });
    if (lacksSeat(role, seats)) throw refuse('seats_exhausted', { ...seats });

    const invitation: InvitationRow = {
      id: open?.id ?? newId(),
      email,
      role,
      team_ids: teamIds,
      project_ids: projectIds,
      state: 'pending',
      invited_by: caller.actor,
      expires_at: computeInvitationExpiry(at),
      sends: 1,
      sent_at: at,
      member_id: null,
      created_at: open?.created_at ?? at,
      updated_at: at,
      version: (open?.version ?? 0) + 1,
    };
    const write = open === undefined ? insertInvitation : updateInvitation;
    sendInvitation(db, invitation, write(invitation));
    if (open === undefined) emit('invitation.created', toInvitationEventSubject(invitation), { role });
    else emit('invitation.renewed', toInvitationEventSubject(invitation), {});
    return { invitation: toInvitation(invitation) };
  },
);
