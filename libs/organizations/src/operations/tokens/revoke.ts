import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { revokeLockedToken, lockToken, toAccessToken } from '../../data/tokens.ts';

export const revoke = handle(organizationsRegistry.tokens.revoke, async ({ params, caller, db }) => {
  const token = await lockToken(db, caller, params.tokenId);
  // Revoking a token that is already revoked changes nothing, because two people may react to the same leak.
  if (token.revoked_at !== null) return { token: toAccessToken(token) };
  return { token: toAccessToken(await revokeLockedToken(db, token)) };
});
