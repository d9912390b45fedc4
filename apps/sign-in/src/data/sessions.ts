/** Sessions of people who have authenticated in a browser. */
import { type Db, newId, sql } from '@muster/driver';
import { identityProofValidMinutes } from '@muster/contract';
import { hashToken, isWellFormedSession, newSessionSecret, sessionTokenHash } from '@muster/runtime';
import { type Account } from './accounts.ts';

/**
 * The way in which a person authenticated: a link in an e-mail, a passkey, or an issuer (`provider:<id>`).
 */
export type ProofMethod = 'link' | 'passkey' | `provider:${string}`;

export interface BrowserSession {
  readonly id: string;
  readonly account: Account;
  readonly provenAt: string;
  /** True if the person authenticated within the last minutes, by the database's clock. */
  readonly isRecentlyProven: boolean;
  readonly expiresAt: string;
}

/** Facts about the browser that are stored with a session. */
export interface BrowserFacts {
  readonly ip: string;
  readonly userAgent: string | null;
}

interface SessionRow {
  id: string;
  account_id: string;
  email: string;
  name: string;
  proven_at: string;
  is_fresh: boolean;
  expires_at: string;
}

const toSession = (row: SessionRow): BrowserSession => ({
  id: row.id,
  account: { id: row.account_id, email: row.email, name: row.name },
  provenAt: row.proven_at,
  isRecentlyProven: row.is_fresh,
  expiresAt: row.expires_at,
});

/** Finds the session of a cookie's secret; undefined if it has ended or never existed. */
export async function findSession(db: Db, secret: string | undefined): Promise<BrowserSession | undefined> {
  if (secret === undefined || !isWellFormedSession(secret)) return undefined;
  const row = await db.find(
    sql<SessionRow>`select s.id, s.account_id, a.email, a.name, s.proven_at, s.expires_at,
         s.proven_at > now() - make_interval(mins => ${identityProofValidMinutes}) as is_fresh
       from sign_in.sessions s join sign_in.accounts a on a.id = s.account_id
       where s.hash = ${hashToken(secret)} and s.revoked_at is null and s.expires_at > now()`,
  );
  return row && toSession(row);
}

/**
 * The facts about an authentication. `before` is the secret of the browser's previous session. `provenAt` is
 * set if the person authenticated before now.
 */
export interface ProofFacts {
  readonly browser: BrowserFacts;
  readonly previousSecret: string | undefined;
  readonly provenAt?: string | null;
}

/**
 * Creates a session after an authentication and returns the session's secret for the cookie. If the browser
 * already has a session of the same person, that session continues with a new secret. A session of another
 * person ends.
 */
export async function startOrRenewSession(
  db: Db,
  account: Account,
  proof: ProofMethod,
  { browser, previousSecret, provenAt = null }: ProofFacts,
): Promise<string> {
  const secret = newSessionSecret();
  const known = await findSession(db, previousSecret);
  if (known?.account.id === account.id) {
    const renewed = await renewSession(db, known.id, { secret, proof, provenAt });
    if (renewed) return secret;
  } else if (known !== undefined) await endSession(db, known.id);
  await db.all(
    sql`insert into sign_in.sessions (id, account_id, hash, proofs, proven_at, user_agent, ip, expires_at, ends_at)
       values (${newId()}, ${account.id}, ${hashToken(secret)}, ${[proof]}::text[], least(now(), ${provenAt}::timestamptz), ${browser.userAgent}, ${browser.ip},
         now() + interval '30 days', now() + interval '90 days')`,
  );
  return secret;
}

/**
 * Replaces the secret of a session and of its tokens. Returns false if the session has ended in the meantime.
 */
async function renewSession(
  db: Db,
  id: string,
  {
    secret,
    proof,
    provenAt,
  }: { readonly secret: string; readonly proof: ProofMethod; readonly provenAt: string | null },
): Promise<boolean> {
  const row = await db.find(
    sql<{
      id: string;
    }>`update sign_in.sessions s set hash = ${hashToken(secret)}, proven_at = greatest(s.proven_at, least(now(), ${provenAt}::timestamptz)), last_seen_at = now(),
         expires_at = least(now() + interval '30 days', s.ends_at),
         proofs = case when ${proof} = any (s.proofs) then s.proofs else s.proofs || ${proof}::text end
       where s.id = ${id} and s.revoked_at is null returning s.id`,
  );
  if (row === undefined) return false;
  const rows = await db.all(
    sql<{ orgId: string }>`select o as "orgId" from app.organizations_of_session(${id}::uuid) o order by o`,
  );
  const orgIds = rows.map(({ orgId }) => orgId);
  const hashes = orgIds.map((orgId) => sessionTokenHash(secret, orgId));
  if (orgIds.length > 0)
    await db.all(sql`select app.renew_session_tokens(${id}::uuid, ${orgIds}::uuid[], ${hashes}::bytea[])`);
  return true;
}

/** Ends a session. Its tokens are rejected from the commit on. */
export async function endSession(db: Db, id: string): Promise<void> {
  await db.all(sql`update sign_in.sessions set revoked_at = now() where id = ${id} and revoked_at is null`);
}
