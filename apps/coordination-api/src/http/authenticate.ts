/**
 * Authenticates requests before their body is read, by `Authorization: Bearer <token>` or a session cookie.
 */
import { badRequest, isUuid, unauthorized } from '@muster/contract';
import { type LookUpWrapper, type Authenticator, type AuthenticatedToken } from '@muster/runtime';
import {
  bearerTokenOf,
  createGatewayCheck,
  createMemoryStore,
  networkOf,
  type Rate,
  requireWithinLimits,
  type SessionCookie,
  sessionSecretOf,
} from '@muster/http';
import { type FastifyRequest } from 'fastify';

/**
 * Authenticates a request. Throws 401, or 429 for an address that has sent too many unknown tokens. Throws
 * 400, 403 or 415 for a session cookie in a request that does not come from a page of this origin.
 */
export type Authenticate = (request: FastifyRequest) => Promise<AuthenticatedToken>;

export interface RequestAuthentication {
  /**
   * Accepts a token, or a session if sign-in is configured. Tokens that are valid only for MCP must come
   * through the gateway.
   */
  readonly authenticate: Authenticate;
  /**
   * Accepts only tokens, including those that are valid only for MCP: for calls of the MCP endpoint itself.
   */
  readonly authenticateToken: Authenticate;
}

/** The path of the MCP endpoint. Tokens that were granted for it name this path. */
export const mcpPath = '/api/mcp';

/** Returns true if the token was granted for the MCP endpoint alone. */
export const isForMcpOnly = (resource: string | null): boolean =>
  resource !== null && new URL(resource).pathname.endsWith(mcpPath);

interface AuthenticateOptions {
  readonly unknownTokenRate: Rate;
  /** The session cookie; undefined without sign-in. */
  readonly cookie: SessionCookie | undefined;
  /** Keys of the MCP gateway. Any of them proves that a call comes through it. */
  readonly gatewayKeys: readonly string[];
}

/**
 * Creates the authentication. Each lookup of an unknown token costs a query and counts against the limit of
 * its address. Each process counts separately.
 */
export function createAuthenticate(
  authenticator: Authenticator,
  { unknownTokenRate, cookie, gatewayKeys }: AuthenticateOptions,
): RequestAuthentication {
  const isFromGateway = createGatewayCheck(gatewayKeys);
  const store = createMemoryStore();
  const countedFor =
    ({ ip }: FastifyRequest): LookUpWrapper =>
    async (look) => {
      const costs = [{ key: networkOf(ip), rate: unknownTokenRate }];
      requireWithinLimits(await store.take(costs), 'unknown_tokens');
      let isUnknown = false;
      try {
        const found = await look();
        isUnknown = found === undefined;
        return found;
      } finally {
        if (!isUnknown) await store.refund(costs);
      }
    };
  const by = async (request: FastifyRequest, found: Promise<AuthenticatedToken>) => {
    const caller = await found;
    request.party = caller.identity.memberId;
    return caller;
  };
  const authenticateToken: Authenticate = async (request) =>
    by(request, authenticator.authenticate(bearerTokenOf(request), countedFor(request)));
  return {
    authenticateToken,
    authenticate: async (request) => {
      const session = cookie && sessionSecretOf(request, cookie);
      if (session === undefined) {
        const caller = await authenticateToken(request);
        if (isForMcpOnly(caller.identity.resource) && !isFromGateway(request.headers))
          throw unauthorized('other_resource');
        return caller;
      }
      const orgId = organizationIdOf(request);
      return by(request, authenticator.authenticateSession(session, orgId, countedFor(request)));
    },
  };
}

/**
 * Returns the id of the organization in which a session acts. The id is in a header, or in the query of
 * streams that browsers open.
 */
function organizationIdOf({ headers, method, query }: FastifyRequest): string {
  const { organization } = query as Record<string, unknown>;
  const named = headers['x-muster-org'] ?? (method === 'GET' ? organization : undefined);
  if (typeof named === 'string' && isUuid(named)) return named;
  throw badRequest('A session request must name an organization.', [
    { path: 'X-Muster-Org', message: 'must be the id of an organization' },
  ]);
}
