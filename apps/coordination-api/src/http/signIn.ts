/**
 * Forwards sign-in pages and OAuth endpoints to the sign-in service, if configured. Senders are not
 * authenticated, so the number of concurrent requests per address is limited.
 */
import {
  createConcurrencyLimiter,
  networkOf,
  type Service,
  tooManyRequests,
  serviceUnavailable,
} from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { createForward } from './forward.ts';

interface SignInForwardOptions {
  /** URL of the sign-in service, such as `http://127.0.0.1:4105`. */
  readonly signInUrl: string;
  readonly releaseSlot: Service['releaseSlot'];
}

const wellKnown = ['oauth-authorization-server', 'oauth-protected-resource', 'openid-configuration'];
const forwardedPaths = [
  ...['/sign-in', '/sign-in/*', '/auth/*', '/oauth/*'],
  ...wellKnown.flatMap((name) => [`/.well-known/${name}`, `/.well-known/${name}/*`]),
];
/** The body limit in bytes. It suffices for forms and for passkey responses. */
const bodyLimit = 64 * 1024;
/** Maximum numbers of concurrent requests per address and in total. */
const maxConcurrentRequests = { each: 64, all: 512 };
const retrySeconds = 1;

export function addSignInForward(
  app: FastifyInstance,
  { signInUrl, releaseSlot }: SignInForwardOptions,
): { readonly close: () => Promise<void> } {
  const limiter = createConcurrencyLimiter(maxConcurrentRequests.all);
  const { forward, prepareScope, close } = createForward({
    ...{ targetUrl: signInUrl, name: '/sign-in', unavailableReason: 'sign_in_away', leave: releaseSlot },
    extraHeaders: ({ protocol, host }) => ({ 'x-forwarded-proto': protocol, 'x-forwarded-host': host }),
  });
  void app.register(async (scope) => {
    prepareScope(scope);
    const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const network = { key: networkOf(request.ip), most: maxConcurrentRequests.each };
      const admission = limiter.acquire([network]);
      if ('leave' in admission) return forward(request, reply).finally(admission.leave);
      if (admission.full === null) throw serviceUnavailable('overload');
      throw tooManyRequests(
        'too_many_attempts',
        retrySeconds,
        'Too many requests from your network at the same time.',
      );
    };
    for (const url of forwardedPaths)
      scope.route({ method: ['GET', 'POST', 'OPTIONS'], url, bodyLimit, handler });
  });
  return { close };
}
