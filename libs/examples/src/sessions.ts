/** Writes the sessions and passkeys that the examples name: two idle browsers of Ana, and two passkeys. */
import { randomBytes } from 'node:crypto';
import { type Makers, type People } from '@muster/testing/world';

const exampleSessionId = '01936d5c-0000-7000-8000-0000000000c0';
const examplePasskeyId = '01936d5c-0000-7000-8000-0000000000d0';

interface SessionsSetUp {
  readonly orgId: string;
  readonly ana: People['ana'];
  /** Returns the id that the example names, or a new one. */
  readonly idOf: (exampleId: string) => string;
}

/**
 * Inserts the records with their account, and returns the id of one session and one passkey.
 * Sessions and passkeys belong to no organization, so the ids of the contract's examples exist once in a
 * database. The organization that was created last has them.
 */
export async function arrangeSessions(
  { rows }: Makers,
  { orgId, ana, idOf }: SessionsSetUp,
): Promise<{ session: string; passkey: string }> {
  const [session, passkey] = [idOf(exampleSessionId), idOf(examplePasskeyId)];
  // The account gets the id of the member.
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
