/** Who sends a request, before a byte of its body is read: `Authorization: Bearer <token>`, or the cookie of a session. */
import { badRequest, isUuid, unauthorized } from '@muster/registry';
import { type AroundLookUp, type Authenticator, type AuthenticatedToken } from '@muster/runtime';
import {
  bearerOf,
  createGatewayCheck,
  createMemoryStore,
  networkOf,
  type Rate,
  requireRoom,
  type SessionCookie,
  sessionSecretOf,
} from '@muster/http';
import { type FastifyRequest } from 'fastify';

/**
 * The token of a request. Throws 401, 429 for an address that has sent too many unknown tokens, and 400, 403 or 415 for a
 * session that comes by another way than from a page of this origin.
 */
export type Authenticate = (request: FastifyRequest) => Promise<AuthenticatedToken>;

export interface Authenticates {
  /** By a token, or where people sign in here by a session. Tokens for MCP alone have to come through the gateway. */
  readonly authenticate: Authenticate;
  /** By a token alone, also by one for MCP alone: for calls of the MCP address itself. */
  readonly authenticateToken: Authenticate;
}

/** The path of the MCP address, as tokens name it that were granted for it. */
export const mcpPath = '/api/mcp';

const isForMcpAlone = (resource: string | null): boolean =>
  resource !== null && new URL(resource).pathname.endsWith(mcpPath);

interface AuthenticateOptions {
  readonly unknownTokens: Rate;
  /** Undefined where there is no sign-in. */
  readonly cookie: SessionCookie | undefined;
  /** Any of these keys proves that a call comes through the MCP gateway. */
  readonly gatewayKeys: readonly string[];
}

/** Each look for a token costs a query; what is guessed at, costs its address. Counted in each process, for itself. */
export function createAuthenticate(
  authenticator: Authenticator,
  { unknownTokens, cookie, gatewayKeys }: AuthenticateOptions,
): Authenticates {
  const isFromGateway = createGatewayCheck(gatewayKeys);
  const store = createMemoryStore();
  const countedFor =
    ({ ip }: FastifyRequest): AroundLookUp =>
    async (look) => {
      const costs = [{ key: networkOf(ip), rate: unknownTokens }];
      requireRoom(await store.take(costs), 'unknown_tokens');
      let isUnknown = false;
      try {
        const found = await look();
        isUnknown = found === undefined;
        return found;
      } finally {
        if (!isUnknown) await store.giveBack(costs);
      }
    };
  const by = async (request: FastifyRequest, found: Promise<AuthenticatedToken>) => {
    const caller = await found;
    request.party = caller.identity.memberId;
    return caller;
  };
  const authenticateToken: Authenticate = async (request) =>
    by(request, authenticator.authenticate(bearerOf(request), countedFor(request)));
  return {
    authenticateToken,
    authenticate: async (request) => {
      const session = cookie && sessionSecretOf(request, cookie);
      if (session === undefined) {
        const caller = await authenticateToken(request);
        if (isForMcpAlone(caller.identity.resource) && !isFromGateway(request.headers))
          throw unauthorized('other_resource');
        return caller;
      }
      const orgId = organizationOf(request);
      return by(request, authenticator.authenticateSession(session, orgId, countedFor(request)));
    },
  };
}

/** The organization that a session is to act in: a header, or in an address, for streams that browsers open by themselves. */
function organizationOf({ headers, method, query }: FastifyRequest): string {
  const { organization } = query as Record<string, unknown>;
  const named = headers['x-muster-org'] ?? (method === 'GET' ? organization : undefined);
  if (typeof named === 'string' && isUuid(named)) return named;
  throw badRequest('A session says in which organization it acts.', [
    { path: 'X-Muster-Org', message: 'must be the id of an organization' },
  ]);
}
