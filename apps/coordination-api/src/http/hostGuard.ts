/**
 * Protects a service on the loopback interface from web pages that reach it under a foreign host name (DNS
 * rebinding).
 */
import { forbidden } from '@muster/contract';
import { type FastifyRequest } from 'fastify';

const loopbackAddresses: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);
const loopbackHostnames = ['localhost', '127.0.0.1', '[::1]'];

const hostnameOf = (url: string): string | undefined =>
  URL.canParse(url) ? new URL(url).hostname : undefined;

/**
 * Returns a check that throws 403 if `Host` names neither this machine nor the host of `baseUrl`. It checks nothing if the
 * service listens on more than the loopback interface.
 */
export function createHostGuard(listenAddress: string, baseUrl: string): (request: FastifyRequest) => void {
  if (!loopbackAddresses.has(listenAddress)) return () => undefined;
  const allowed: ReadonlySet<string | undefined> = new Set([...loopbackHostnames, hostnameOf(baseUrl)]);
  return ({ headers: { host = '' } }) => {
    const hostname = hostnameOf(`http://${host}`);
    if (hostname === undefined || !allowed.has(hostname)) throw forbidden('foreign_host');
  };
}
