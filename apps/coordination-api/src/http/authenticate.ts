/** `Authorization: Bearer <token>` → who it is, before a byte of the body is read. */
import { tooMany } from '@muster/registry';
import { type Authenticator, type AuthenticatedToken } from '@muster/runtime';
import { bearerOf, createMemoryStore, networkOf, type Rate, retryAfterSeconds } from '@muster/http';
import { type FastifyRequest } from 'fastify';

/** Who calls. Throws 401, and 429 for an address that has sent too many tokens that nobody has. */
export type Authenticate = (request: FastifyRequest) => Promise<AuthenticatedToken>;

/** Each look for a token costs a query; what is guessed at, costs its address. Counted in each process, for itself. */
export function createEntrance(authenticator: Authenticator, unknownTokens: Rate): Authenticate {
  const store = createMemoryStore();
  return async (request) => {
    const caller = await authenticator.authenticate(bearerOf(request), async (look) => {
      const draws = [{ key: networkOf(request.ip), rate: unknownTokens }];
      const levels = await store.take(draws);
      if (levels.some(({ waitMillis }) => waitMillis > 0))
        throw tooMany('unknown_tokens', retryAfterSeconds(levels));
      let isUnknown = false;
      try {
        const found = await look();
        isUnknown = found === undefined;
        return found;
      } finally {
        if (!isUnknown) await store.giveBack(draws);
      }
    });
    request.party = caller.identity.tokenId;
    return caller;
  };
}
