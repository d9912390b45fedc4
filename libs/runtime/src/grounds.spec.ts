import { afterEach, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { operation, org } from '@muster/contract';
import { useWorld } from '@muster/testing';
import { z } from 'zod';
import { requireToken } from './grounds.ts';
import { newSessionSecret } from './sessions.ts';
import { createAuthenticator, hashToken } from './tokens.ts';

const world = useWorld({});
const now = Date.now;
afterEach(() => {
  Date.now = now;
});

const sensitiveOperation = operation({
  name: 'tries.sign',
  effect: 'write',
  summary: 'Try it',
  description: 'For specs.',
  access: org('member'),
  params: z.strictObject({}),
  result: z.object({}),
  needsProof: true,
  example: {},
});

/**
 * Returns true if a session whose last proof of identity has the given age may call a sensitive operation.
 * The service's clock is ahead of the database's clock by `aheadMinutes`.
 */
async function isAllowed(provenMinutesAgo: number, aheadMinutes: number): Promise<boolean> {
  const { orgId, chloe } = await world.org();
  const [account, secret] = [newId(), newSessionSecret()];
  const email = `${account}@acme.example`;
  await world.rows('update members set email = $2 where id = $1', chloe.me.memberId, email);
  await world.rows(`insert into sign_in.accounts (id, email, name) values ($1, $2, 'Chloé')`, account, email);
  await world.rows(
    `insert into sign_in.sessions (id, account_id, hash, proofs, proven_at, last_seen_at, expires_at, ends_at)
     values ($1, $2, $3, '{link}', now() - make_interval(mins => $4), now(), now() + interval '20 days', now() + interval '40 days')`,
    ...[newId(), account, hashToken(secret), provenMinutesAgo],
  );
  const authenticator = createAuthenticator(world.database.app);
  Date.now = () => now() + aheadMinutes * 60_000;
  try {
    const token = await authenticator.authenticateSession(secret, orgId);
    requireToken(sensitiveOperation, token);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ details: { reason: 'proof_needed' } });
    return false;
  } finally {
    await authenticator.close();
  }
}

it('a proof is fresh by the clock of the database, whatever the clock of the server says', async () => {
  expect(await isAllowed(9, 60)).toBe(true);
  expect(await isAllowed(11, -60)).toBe(false);
});
