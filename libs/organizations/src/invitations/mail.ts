/** The e-mail of an invitation. Its secret is contained only there, and each mail has a new one. */
import { type Db, orgFilter, sql } from '@muster/driver';
import { type Actor, type GivenRole } from '@muster/contract';
import { hashToken } from '@muster/runtime';
import { setInvitationSecretHash } from '../data/invitations.ts';
import { newInvitationSecret } from '../rules/invitation-secret.ts';
import { renderInvitationMail, type InvitationMail } from '../rules/invitation-mail.ts';

export interface InvitationMailRequest {
  readonly orgId: string;
  readonly invitationId: string;
  /** The public URL of coordination-api, such as `https://muster.example`. */
  readonly baseUrl: string;
}

interface InvitationMailRow {
  readonly email: string;
  readonly role: GivenRole;
  readonly invited_by: Actor;
  readonly expires_at: string;
  readonly org_name: string;
}

/**
 * Prepares the e-mail of an invitation; null if the invitation is no longer pending. It replaces the secret,
 * which invalidates earlier e-mails. The caller must therefore send the mail, before or after the transaction
 * commits.
 */
export async function prepareInvitationMail(
  db: Db,
  { invitationId, baseUrl }: InvitationMailRequest,
): Promise<InvitationMail | null> {
  const row = await db.find(
    sql<InvitationMailRow>`select i.email, i.role, i.invited_by, i.expires_at, o.name as org_name
       from invitations i join orgs o on o.id = i.org_id
       where ${orgFilter('i')} and i.id = ${invitationId} and i.state = 'pending' and i.expires_at > clock_timestamp()
         and o.deleted_at is null
       for no key update of i`,
  );
  if (row === undefined) return null;
  const secret = newInvitationSecret();
  db.deferToCommit(setInvitationSecretHash(invitationId, hashToken(secret)));
  return renderInvitationMail({
    to: row.email,
    role: row.role,
    inviter: row.invited_by.name,
    organization: row.org_name,
    expiresAt: row.expires_at,
    url: `${baseUrl.replace(/\/+$/, '')}/invitations/accept`,
    secret,
  });
}
