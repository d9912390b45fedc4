/**
 * Writes the records that the examples of tokens and agents name: an unused token of Ana, and an agent of
 * hers.
 */
import { randomBytes } from 'node:crypto';
import { type Makers, type People } from '@muster/testing/world';

const exampleIds = {
  token: '01936d5c-0000-7000-8000-0000000000b0',
  agent: '01936d5c-0000-7000-8000-0000000000b1',
} as const;

interface TokensSetUp {
  readonly orgId: string;
  readonly ana: People['ana'];
  /** Returns the id that the example names, or a new one. */
  readonly idOf: (exampleId: string) => string;
}

/** Inserts the records, and returns the ids of the token and the agent. */
export async function arrangeTokens(
  { rows }: Makers,
  { orgId, ana, idOf }: TokensSetUp,
): Promise<{ token: string; agent: string }> {
  const [token, agent] = [idOf(exampleIds.token), idOf(exampleIds.agent)];
  await rows(
    `insert into tokens (org_id, id, member_id, name, hash, last_four, scopes, expires_at)
     values ($1, $2, $3, 'Old laptop', $4, 'none', '{write}', now() + interval '30 days')`,
    orgId,
    token,
    ana.me.memberId,
    randomBytes(32),
  );
  await rows(
    `insert into agents (org_id, id, member_id, name) values ($1, $2, $3, 'Old helper')`,
    orgId,
    agent,
    ana.me.memberId,
  );
  return { token, agent };
}
