/** The e-mail of an invitation, which alone has its secret: made anew each time that it goes out. */
import { type Db, of, sql } from '@muster/driver';
import { type Actor, type GivenRole } from '@muster/registry';
import { hashToken } from '@muster/runtime';
import { setSecretHash } from '../data/invitations.ts';
import { newInvitationSecret } from '../rules/invitation-secret.ts';
import { invitationMail, type Mail } from '../rules/invitation-mail.ts';

export interface InvitationMailRequest {
  readonly orgId: string;
  readonly invitationId: string;
  /** Where coordination-api is reached, such as `https://muster.example`. */
  readonly baseUrl: string;
}

interface MailRow {
  readonly email: string;
  readonly role: GivenRole;
  readonly invited_by: Actor;
  readonly expires_at: string;
  readonly org_name: string;
}

/**
 * The e-mail to be sent for an invitation; null where it is not pending any more. Gives the invitation a new secret,
 * so that what went out before ends: send the mail before the transaction commits or after, but do send it.
 */
export async function prepareInvitationMail(
  db: Db,
  { invitationId, baseUrl }: InvitationMailRequest,
): Promise<Mail | null> {
  const row = await db.find(
    sql<MailRow>`select i.email, i.role, i.invited_by, i.expires_at, o.name as org_name
       from invitations i join orgs o on o.id = i.org_id
       where ${of('i')} and i.id = ${invitationId} and i.state = 'pending' and i.expires_at > clock_timestamp()
         and o.deleted_at is null
       for no key update of i`,
  );
  if (row === undefined) return null;
  const secret = newInvitationSecret();
  db.later(setSecretHash(invitationId, hashToken(secret)));
  return invitationMail({
    to: row.email,
    role: row.role,
    inviter: row.invited_by.name,
    organization: row.org_name,
    expiresAt: row.expires_at,
    url: `${baseUrl.replace(/\/+$/, '')}/invitations/accept`,
    secret,
  });
}
