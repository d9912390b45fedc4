import { expect } from '@jest/globals';
import { type Operation } from '@muster/contract';
import { type ExampleOrg } from '@muster/examples';
import { type TestApi } from './api.ts';

/** A well-formed token that was never issued. */
export const unknownToken = 'must_test_00000000000000000000000000000000000000';

/**
 * Expects that the operation refuses every kind of bad token with the same answer, and leaves no audit entry.
 */
export async function refusesBadTokens(
  api: TestApi,
  { orgId, ana }: ExampleOrg,
  operation: Operation,
): Promise<void> {
  // The tokens have every scope, so that they are refused only because they were revoked or have expired.
  const scopes = ['admin', 'platform'] as const;
  const revoked = await api.world.token(orgId, ana.me.memberId, { scopes });
  const expired = await api.world.token(orgId, ana.me.memberId, { scopes });
  // Both tokens are cached as valid before one is revoked and the other expires.
  for (const { me } of [revoked, expired])
    expect((await api.call(me.token, 'session.identity')).status).toBe(200);
  await api.world.rows(
    `update tokens set revoked_at = now() where hash = sha256($1::bytea)`,
    Buffer.from(revoked.me.token),
  );
  await api.world.rows(
    `update tokens set expires_at = now() - interval '1 s' where hash = sha256($1::bytea)`,
    Buffer.from(expired.me.token),
  );
  const bodies = new Set<string>();
  const bad = [null, 'nonsense', unknownToken, `${ana.me.token}x`, revoked.me.token, expired.me.token];
  for (const token of bad) {
    const answer = await api.call(token, operation.name, operation.example, { 'x-request-id': 'same' });
    expect([token, answer.status, answer.headers.get('www-authenticate')]).toEqual([token, 401, 'Bearer']);
    bodies.add(answer.text);
  }
  expect(bodies.size).toBe(1);
  const entries = await api.world.rows(
    'select outcome from audit where org_id = $1 and operation = $2',
    orgId,
    operation.name,
  );
  expect(entries).toEqual([]);
}
