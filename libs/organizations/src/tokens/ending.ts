/** The e-mail to a member before one of their tokens expires. It is sent once per token. */
import { type Db, orgFilter, sql } from '@muster/driver';
import { outboxRow } from '@muster/tenancy';
import { renderTokenExpiryMail, type TokenExpiryMail } from '../rules/token-end-mail.ts';

/** The number of days before a token's expiry at which its member gets an e-mail. */
export const tokenWarningDays = 7;

const warningInterval = sql.part`make_interval(days => ${sql.literal(tokenWarningDays)})`;

/**
 * Restricts a query to tokens `t` that expire soon and for which no mail was sent. Tokens with a lifetime no
 * longer than the warning period are left out.
 */
export const expiringTokensCondition = sql.part`t.kind = 'api' and t.revoked_at is null and t.warned_at is null
  and t.expires_at > now() and t.expires_at <= now() + ${warningInterval} and t.expires_at > t.created_at + ${warningInterval} + interval '1 hour'`;

/**
 * Requests an e-mail for each token of the organization that expires soon, for at most `most` tokens. Returns
 * the number of tokens.
 */
export async function requestTokenExpiryMails(db: Db, maxTokens: number): Promise<number> {
  const noted = await db.all(
    sql<{ id: string }>`update tokens set warned_at = now() where ${orgFilter()} and warned_at is null
       and id in (select t.id from tokens t where ${orgFilter('t')} and ${expiringTokensCondition} order by t.expires_at limit ${maxTokens})
       returning id`,
  );
  for (const { id } of noted) db.deferToCommit(outboxRow('token.mail', { tokenId: id }));
  return noted.length;
}

/** Prepares the mail about a token; null if the token has ended or its member was removed. */
export async function prepareTokenMail(db: Db, tokenId: string): Promise<TokenExpiryMail | null> {
  const row = await db.find(
    sql<{
      email: string;
      name: string;
      agent: string | null;
      organization: string;
      expires_at: string | null;
    }>`
      select m.email, t.name, a.name as agent, o.name as organization, t.expires_at from tokens t
      join members m on m.org_id = t.org_id and m.id = t.member_id and m.status = 'active'
      join orgs o on o.id = t.org_id and o.deleted_at is null
      left join agents a on a.org_id = t.org_id and a.id = t.agent_id
      where ${orgFilter('t')} and t.id = ${tokenId} and t.revoked_at is null and t.expires_at > clock_timestamp()`,
  );
  if (row?.expires_at == null) return null;
  const { email: to, name, agent, organization, expires_at: expiresAt } = row;
  return renderTokenExpiryMail({ to, name, agent, organization, expiresAt });
}
