import { type Db, outboxRow, type Query } from '@muster/database';
import { type OrgRole } from '@muster/registry';
import { forbidden } from '@muster/runtime';
import { forgetSecret, type InvitationRow } from '../../data/invitations.ts';
import { freeSeats, type Seats } from '../../data/seats.ts';
import { holdsSeat } from '../../rules/role-changes.ts';

/**
 * Writes an invitation and has its e-mail sent, by a job that makes the secret: it is in the e-mail alone. A secret
 * that went out before ends here.
 */
export function sendInvitation(db: Db, orgId: string, { id }: InvitationRow, write: Query<unknown>): void {
  db.later(write);
  db.later(forgetSecret(orgId, id));
  db.later(outboxRow(orgId, 'invitation.mail', { invitationId: id }));
}

/** Whether there is no seat for somebody of that role; a viewer needs none. */
export const lacksSeat = (role: OrgRole, seats: Seats): boolean => holdsSeat(role) && freeSeats(seats) <= 0;

/** 403 where an admin is to be made by somebody other than the owner. */
export function requireOwnerForAdmin(orgRole: OrgRole, invitedAs: OrgRole): void {
  if (invitedAs === 'admin' && orgRole !== 'owner')
    throw forbidden('role', 'Only the owner may invite somebody as admin.');
}
