/** `Authorization: Bearer <token>` → who it is, before a byte of the body is read. */
import { tooMany } from '@muster/registry';
import { type Authenticator, type AuthenticatedToken } from '@muster/runtime';
import { bearerOf, createMemoryStore, networkOf, type Rate, retryAfterSeconds } from '@muster/http';
import { type FastifyRequest } from 'fastify';

/** The token of a request. Throws 401, and 429 for an address that has sent too many unknown tokens. */
export type Authenticate = (request: FastifyRequest) => Promise<AuthenticatedToken>;

/** Each look for a token costs a query; what is guessed at, costs its address. Counted in each process, for itself. */
export function createAuthenticate(authenticator: Authenticator, unknownTokens: Rate): Authenticate {
  const store = createMemoryStore();
  return async (request) => {
    const caller = await authenticator.authenticate(bearerOf(request), async (look) => {
      const costs = [{ key: networkOf(request.ip), rate: unknownTokens }];
      const quotas = await store.take(costs);
      if (quotas.some(({ waitMillis }) => waitMillis > 0))
        throw tooMany('unknown_tokens', retryAfterSeconds(quotas));
      let isUnknown = false;
      try {
        const found = await look();
        isUnknown = found === undefined;
        return found;
      } finally {
        if (!isUnknown) await store.giveBack(costs);
      }
    });
    request.party = caller.identity.tokenId;
    return caller;
  };
}
