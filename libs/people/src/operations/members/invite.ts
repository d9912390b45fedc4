import { newId } from '@muster/database';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import {
  aboutInvitation,
  insertInvitation,
  type InvitationRow,
  lockOpenInvitation,
  setInvitation,
  toInvitation,
} from '../../data/invitations.ts';
import { getProjectIds, getTeamIds } from '../../data/invited-into.ts';
import { isMemberAddress } from '../../data/members.ts';
import { lockSeats } from '../../data/seats.ts';
import { isAllowedAddress } from '../../rules/email-domains.ts';
import { expiryOf, invitationLife } from '../../rules/invitation-states.ts';
import { lacksSeat, requireOwnerForAdmin, sendInvitation } from '../invitations/send-invitation.ts';

export const invite = handle(
  registry.members.invite,
  async ({ params, caller, db, access, policy, emit, refuse }) => {
    const { email, role } = params;
    const { orgId } = caller;
    const [{ at, orgRole }, { allowedEmailDomains }, seats, open, isMember, teamIds, projectIds] =
      await Promise.all([
        access(),
        policy(),
        lockSeats(db, orgId),
        lockOpenInvitation(db, orgId, email),
        isMemberAddress(db, orgId, email),
        getTeamIds(db, orgId, params.teamIds),
        getProjectIds(db, caller, params.projectIds),
      ]);
    requireOwnerForAdmin(orgRole, role);
    if (isMember) throw refuse('already_exists');
    if (open !== undefined) {
      const outcome = invitationLife[open.state].invite;
      if ('refused' in outcome) throw refuse('already_exists', { invitationId: open.id });
    }
    if (!isAllowedAddress(email, allowedEmailDomains))
      throw refuse('policy', { unmet: [{ gate: 'allowedEmailDomains', allowed: allowedEmailDomains }] });
    if (lacksSeat(role, seats)) throw refuse('seats_exhausted', { ...seats });

    const invitation: InvitationRow = {
      id: open?.id ?? newId(),
      email,
      role,
      team_ids: teamIds,
      project_ids: projectIds,
      state: 'pending',
      invited_by: caller.actor,
      expires_at: expiryOf(at),
      member_id: null,
      created_at: open?.created_at ?? at,
      updated_at: at,
      version: (open?.version ?? 0) + 1,
    };
    const write = open === undefined ? insertInvitation : setInvitation;
    sendInvitation(db, orgId, invitation, write(orgId, invitation));
    if (open === undefined) emit('invitation.created', aboutInvitation(invitation), { role });
    else emit('invitation.renewed', aboutInvitation(invitation), {});
    return { invitation: toInvitation(invitation) };
  },
);
