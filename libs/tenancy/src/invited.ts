/** Opens an organization's transaction for a person who has no token there yet, by an invitation. */
import { sql } from '@muster/driver';
import { type AccessCheck } from './access-check.ts';

/** A person who signed in, and an invitation to the address of their account. */
export interface InvitedAccount {
  /** SHA-256 of the session's secret. */
  readonly sessionHash: Buffer;
  readonly orgId: string;
  readonly invitationId: string;
}

/**
 * The result of the authorization check of an invited person. It does not contain the current state of the
 * invitation.
 */
export interface InvitationGrant {
  readonly at: string;
  readonly orgId: string;
  /** The name of the account that signed in; null for a caller who has only the secret. */
  readonly name: string | null;
}

/** SQLSTATE of a server that does not know the invitation. */
export const unknownInvitationSqlState = 'MU404';

/**
 * Builds the authorization check for a person without a token, who has the secret of an invitation or an
 * invited account.
 */
export const invitationAccessCheck = (credential: Buffer | InvitedAccount): AccessCheck<InvitationGrant> => ({
  effect: 'write',
  orgId: null,
  claim: null,
  onWalPosition: undefined,
  checkQuery: Buffer.isBuffer(credential)
    ? sql<InvitationGrant>`select e.at, e.org_id as "orgId", null as name from app.enter_by_invitation(${credential}) e`
    : sql<InvitationGrant>`select e.at, e.org_id as "orgId", e.name from app.enter_by_account(${credential.sessionHash}, ${credential.orgId}::uuid, ${credential.invitationId}::uuid) e`,
  toGrant: (row) => row as InvitationGrant,
  orgIdOf: ({ orgId }) => orgId,
});
