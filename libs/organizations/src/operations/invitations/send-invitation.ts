import { type Db, type Query } from '@muster/driver';
import { type OrgRole, type Policy, refusal, roleTooLow } from '@muster/contract';
import { outboxRow } from '@muster/tenancy';
import { clearInvitationSecret, type InvitationRow } from '../../data/invitations.ts';
import { countFreeSeats, type SeatCounts } from '../../data/seats.ts';
import { isAllowedAddress } from '../../rules/email-domains.ts';
import { roleNeedsSeat } from '../../rules/role-changes.ts';

/**
 * Writes an invitation and requests its e-mail. The mail job creates the secret, so that only the e-mail
 * contains it. The secret of an earlier e-mail becomes invalid.
 */
export function sendInvitation(db: Db, { id }: InvitationRow, writeQuery: Query<unknown>): void {
  db.deferToCommit(writeQuery);
  db.deferToCommit(clearInvitationSecret(id));
  db.deferToCommit(outboxRow('invitation.mail', { invitationId: id }));
}

/** Throws 422 if the current policy does not allow the address. */
export function requireAllowedAddress(email: string, { allowedEmailDomains: allowed }: Policy): void {
  if (!isAllowedAddress(email, allowed))
    throw refusal('policy', { unmet: [{ gate: 'allowedEmailDomains', allowed }] });
}

/** Returns whether a member of the given role needs a seat but no seat is free. Viewers need no seat. */
export const lacksSeat = (role: OrgRole, seats: SeatCounts): boolean =>
  roleNeedsSeat(role) && countFreeSeats(seats) <= 0;

/** Throws 403 if a caller other than the owner invites an admin. */
export function requireOwnerForAdmin(callerRole: OrgRole, invitedRole: OrgRole): void {
  if (invitedRole === 'admin' && callerRole !== 'owner')
    throw roleTooLow({ needed: 'owner', held: callerRole }, 'Only the owner can invite an admin.');
}
