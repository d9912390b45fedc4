/**
 * `/api/mcp` and `/api/a2a`, if a gateway is configured: forwards each request unchanged. The gateway checks
 * the request, but the token is verified here before the body is read.
 */
import { bulkBodyLimitBytes, unauthorized } from '@muster/contract';
import { addIssuerTo401, type Service } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Authenticate, isForMcpOnly, mcpPath } from './authenticate.ts';
import { createForward } from './forward.ts';
import { createWaitingCallLimiter, forwardedCallLimits } from './shares.ts';

interface McpForwardOptions {
  /** URL of the gateway, such as `http://127.0.0.1:4101`. */
  readonly gatewayUrl: string;
  readonly authenticate: Authenticate;
  readonly releaseSlot: Service['releaseSlot'];
  /** The OAuth issuer for clients; null without sign-in. */
  readonly issuer: string | null;
  /**
   * Throws 403 for a foreign Host. The gateway cannot check it, because a forwarded request has the gateway's
   * own Host.
   */
  readonly checkHost: (request: FastifyRequest) => void;
}

/**
 * The paths of the MCP endpoint. The gateway derives its restrictions, such as read-only access, from the
 * path.
 */
const mcpPaths = ['', '/core', '/readonly', '/core/readonly'].flatMap((end) => [
  mcpPath + end,
  `${mcpPath}${end}/`,
]);
/** The path at which the gateway serves A2A. */
export const a2aPath = '/api/a2a';
/** Methods that the gateway answers with 405. */
const otherMethods = ['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'];
const otherBodyLimit = 1_024;

export function addMcpForward(
  app: FastifyInstance,
  { gatewayUrl, authenticate, releaseSlot, issuer, checkHost }: McpForwardOptions,
): { readonly close: () => Promise<void> } {
  const shares = createWaitingCallLimiter(forwardedCallLimits, 'go through MCP', 'too_many_forwarded');
  const { forward, prepareScope, close } = createForward({
    ...{ targetUrl: gatewayUrl, name: mcpPath, unavailableReason: 'gateway_away', leave: releaseSlot },
  });
  void app.register(async (scope) => {
    prepareScope(scope);
    if (issuer !== null) addIssuerTo401(scope, issuer);
    const route = {
      config: { isForMcp: true },
      onRequest: async (request: FastifyRequest) => {
        checkHost(request);
        request.caller = await authenticate(request);
      },
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        if (request.caller === null) throw new Error(`${mcpPath} was reached without authentication`);
        const done = shares.enter(request.caller.identity);
        return forward(request, reply).finally(done);
      },
    };
    for (const url of mcpPaths) {
      scope.route({ ...route, url, method: 'POST', bodyLimit: bulkBodyLimitBytes });
      scope.route({ ...route, url, method: otherMethods, bodyLimit: otherBodyLimit });
    }
    scope.route({
      ...{ ...route, config: {}, url: a2aPath, method: 'POST', bodyLimit: bulkBodyLimitBytes },
      onRequest: async (request) => {
        await route.onRequest(request);
        if (isForMcpOnly(request.caller?.identity.resource ?? null)) throw unauthorized('other_resource');
      },
    });
  });
  return { close };
}
