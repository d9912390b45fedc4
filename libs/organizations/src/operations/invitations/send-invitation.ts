import { type Db, type Query } from '@muster/driver';
import { type OrgRole, type Policy, refusal, roleTooLow } from '@muster/registry';
import { outboxRow } from '@muster/tenancy';
import { forgetSecret, type InvitationRow } from '../../data/invitations.ts';
import { freeSeats, type Seats } from '../../data/seats.ts';
import { isAllowedAddress } from '../../rules/email-domains.ts';
import { holdsSeat } from '../../rules/role-changes.ts';

/**
 * Writes an invitation and has its e-mail sent, by a job that makes the secret: it is in the e-mail alone. A secret
 * that went out before ends here.
 */
export function sendInvitation(db: Db, { id }: InvitationRow, write: Query<unknown>): void {
  db.later(write);
  db.later(forgetSecret(id));
  db.later(outboxRow('invitation.mail', { invitationId: id }));
}

/** 422 where the policy, as it is now, does not allow that address. */
export function requireAllowedAddress(email: string, { allowedEmailDomains: allowed }: Policy): void {
  if (!isAllowedAddress(email, allowed))
    throw refusal('policy', { unmet: [{ gate: 'allowedEmailDomains', allowed }] });
}

/** Whether there is no seat for a member of that role; a viewer needs none. */
export const lacksSeat = (role: OrgRole, seats: Seats): boolean => holdsSeat(role) && freeSeats(seats) <= 0;

/** 403 where a caller other than the owner invites an admin. */
export function requireOwnerForAdmin(orgRole: OrgRole, invitedAs: OrgRole): void {
  if (invitedAs === 'admin' && orgRole !== 'owner')
    throw roleTooLow({ needed: 'owner', held: orgRole }, 'Only the owner may invite somebody as admin.');
}
