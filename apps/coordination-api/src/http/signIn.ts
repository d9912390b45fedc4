/**
 * The pages on which people sign in, and the addresses by which programs get their tokens, where there is a service for them:
 * requests go on to it as they came. Who sends them is a stranger, so an address has a share of those on their way.
 */
import { createConcurrencyLimiter, networkOf, type Service, tooMany, unavailable } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { createForward } from './forward.ts';

interface Options {
  /** Such as `http://127.0.0.1:4105`. */
  readonly signInUrl: string;
  readonly leave: Service['leave'];
}

const wellKnown = ['oauth-authorization-server', 'oauth-protected-resource', 'openid-configuration'];
const paths = [
  ...['/sign-in', '/sign-in/*', '/auth/*', '/oauth/*'],
  ...wellKnown.flatMap((name) => [`/.well-known/${name}`, `/.well-known/${name}/*`]),
];
/** Forms, and what a browser says of a passkey. */
const bodyLimit = 64 * 1024;
/** On their way at once, of an address and of all. */
const most = { each: 64, all: 512 };
const retrySeconds = 1;

export function addSignInForward(
  app: FastifyInstance,
  { signInUrl, leave }: Options,
): { readonly close: () => Promise<void> } {
  const limiter = createConcurrencyLimiter(most.all);
  const { forward, prepare, close } = createForward({
    ...{ to: signInUrl, name: '/sign-in', away: 'sign_in_away', leave },
    told: ({ protocol, host }) => ({ 'x-forwarded-proto': protocol, 'x-forwarded-host': host }),
  });
  void app.register(async (scope) => {
    prepare(scope);
    const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const network = { key: networkOf(request.ip), most: most.each };
      const admission = limiter.enter([network]);
      if ('leave' in admission) return forward(request, reply).finally(admission.leave);
      if (admission.full === null) throw unavailable('overload');
      throw tooMany('too_many_attempts', retrySeconds, 'Too many requests of your network at once.');
    };
    for (const url of paths) scope.route({ method: ['GET', 'POST', 'OPTIONS'], url, bodyLimit, handler });
  });
  return { close };
}
