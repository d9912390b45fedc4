/** What the examples of sessions and passkeys name: two browsers of Ana's, in which nothing is done, and two passkeys. */
import { randomBytes } from 'node:crypto';
import { type Makers, type People } from '../world.ts';

const exampleSession = '01936d5c-0000-7000-8000-0000000000c0';
const examplePasskey = '01936d5c-0000-7000-8000-0000000000d0';

interface SessionsSetUp {
  readonly orgId: string;
  readonly ana: People['ana'];
  /** The id that the example names, or another one. */
  readonly idOf: (wanted: string) => string;
}

/**
 * Writes them, with the account that they are of, and answers the ids of one each. Sessions and passkeys are of no organization, so the
 * ids of the contract's examples are there once in a database: the example that was made last has them.
 */
export async function arrangeSessions(
  { rows }: Makers,
  { orgId, ana, idOf }: SessionsSetUp,
): Promise<{ session: string; passkey: string }> {
  const [session, passkey] = [idOf(exampleSession), idOf(examplePasskey)];
  // The member's own id does for the account.
  const account = ana.me.memberId;
  await rows(
    `insert into sign_in.accounts (id, email, name) values ($1, $2, 'Ana')`,
    account,
    `${account}@accounts.example`,
  );
  await rows('update members set account_id = id where org_id = $1 and id = $2', orgId, account);
  await rows(
    `insert into sign_in.sessions (id, account_id, hash, proofs, user_agent, expires_at, ends_at)
     select one.id, $1, one.hash, '{link}', 'Old browser', now() + interval '30 days', now() + interval '90 days'
     from unnest($2::uuid[], $3::bytea[]) one (id, hash)
     on conflict (id) do update set account_id = excluded.account_id, hash = excluded.hash, revoked_at = null`,
    account,
    [session, idOf('01936d5c-0000-7000-8000-0000000000c1')],
    [randomBytes(32), randomBytes(32)],
  );
  await rows(
    `insert into sign_in.passkeys (id, account_id, credential_id, public_key, name)
     select one.id, $1, one.credential, '', 'Laptop'
     from unnest($2::uuid[], $3::bytea[]) one (id, credential)
     on conflict (id) do update set account_id = excluded.account_id`,
    account,
    [passkey, idOf('01936d5c-0000-7000-8000-0000000000d1')],
    [randomBytes(32), randomBytes(32)],
  );
  return { session, passkey };
}
